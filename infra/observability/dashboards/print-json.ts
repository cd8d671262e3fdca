const WIDTH = 120;

/**
 * Returns a value as JSON in the form that Biome keeps: what fits into a line is on one line, and the rest has a line
 * for each element.
 */
export function printJson(value: unknown): string {
  return `${print(value, 0, 0)}\n`;
}

/** @param taken columns that are used by what stands before the value, and the comma after it */
function print(value: unknown, depth: number, taken: number): string {
  const flat = printFlat(value);
  if (typeof value !== 'object' || value === null || 2 * depth + taken + flat.length <= WIDTH) return flat;
  const indent = '  '.repeat(depth + 1);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Array.isArray(value)
    ? value.map((element) => print(element, depth + 1, 1))
    : entriesOf(value).map(([key, element]) => `${key}: ${print(element, depth + 1, key.length + 3)}`);
  return `${open}\n${entries.map((entry) => indent + entry).join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

function printFlat(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printFlat).join(', ')}]`;
  const entries = entriesOf(value).map(([key, element]) => `${key}: ${printFlat(element)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value)
    .filter(([, element]) => element !== undefined)
    .map(([key, element]) => [JSON.stringify(key), element]);
}
