/**
 * The rows that a caller may see: those whose metadata contain (`@>`) one of these objects, of plain values and lists of
 * them. `[{}]` is every row, `[]` is none.
 */
export type Scope = readonly Readonly<Record<string, unknown>>[];

/** Returns whether the caller may see what has these metadata. */
export function isInScope(metadata: Readonly<Record<string, unknown>>, scope: Scope): boolean {
  return scope.some((part) => Object.entries(part).every(([name, wanted]) => contains(metadata[name], wanted)));
}

/** Returns what `@>` returns, for parts that are lists of plain values, or plain values. */
function contains(value: unknown, wanted: unknown): boolean {
  if (!Array.isArray(wanted)) return value === wanted;
  return Array.isArray(value) && wanted.every((each) => value.includes(each));
}
