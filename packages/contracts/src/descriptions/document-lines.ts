/**
 * The form in which descriptions stand in the repository: one line for each operation, schema, message and channel, so
 * that a change of one is a change of one line. Each line is `[place, value]`, where `place` has the keys that lead to
 * the value; the first line has everything that has no line of its own.
 */

type Fields = Record<string, unknown>;
type Line = [place: string[], value: unknown];

/** How many keys lead to what has a line of its own, below keys of the document. */
const DEPTHS: Readonly<Record<string, number>> = { paths: 2, components: 2, channels: 1, operations: 1 };

export function toDocumentLines(document: object): string {
  const fields = Object.entries(document);
  const head = Object.fromEntries(fields.filter(([key]) => DEPTHS[key] === undefined));
  const lines = Object.entries(DEPTHS).flatMap(([key, depth]) =>
    linesBelow([key], (document as Fields)[key] ?? {}, depth),
  );
  return [[[], head], ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** @throws SyntaxError for a line that is no JSON */
export function parseDocumentLines(text: string): Fields {
  const [head, ...lines] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const document = { ...(head?.[1] as Fields) };
  for (const [place, value] of lines) put(document, place, value);
  return document;
}

function linesBelow(place: string[], value: unknown, depth: number): Line[] {
  if (depth === 0) return [[place, value]];
  return Object.entries(value as Fields).flatMap(([key, each]) => linesBelow([...place, key], each, depth - 1));
}

function put(document: Fields, place: readonly string[], value: unknown): void {
  let fields = document;
  for (const key of place.slice(0, -1)) {
    fields[key] ??= {};
    fields = fields[key] as Fields;
  }
  fields[place.at(-1) as string] = value;
}
