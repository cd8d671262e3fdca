export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns undefined for an object without keys. */
export function orUndefined(value: JsonObject): JsonObject | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}

/** Returns JSON in which the order of keys says nothing; an empty text for what has none. */
export function stableJson(value: unknown): string {
  const sorted = (_: string, inner: unknown) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner;
  return JSON.stringify(value, sorted) ?? '';
}
