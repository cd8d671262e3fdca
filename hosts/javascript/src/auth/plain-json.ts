/**
 * Checks that JSON says all of a value. A filter like `{owner: undefined}` would lose its only condition on the way, and
 * then filter nothing; a request whose `namespace` is `undefined` would concern every one.
 *
 * @throws TypeError that names the place
 */
export function requirePlainJson(value: unknown, place: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) requirePlainJson(each, `${place}[${index}]`);
    return;
  }
  if (!isPlainObject(value)) throw new TypeError(`${place} is ${nameOf(value)}, and has to be plain JSON`);
  for (const [key, each] of Object.entries(value)) requirePlainJson(each, `${place}.${key}`);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function nameOf(value: unknown): string {
  if (typeof value === 'object') return `of the class ${value?.constructor?.name}`;
  return typeof value === 'number' ? String(value) : typeof value;
}
