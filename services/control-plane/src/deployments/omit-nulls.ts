/** Returns the fields that have a value: a null means the same as a missing field. */
export function omitNulls<T extends object>(fields: T | null | undefined): Partial<T> {
  const entries = Object.entries(fields ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}
