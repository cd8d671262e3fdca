import { isObject, type Json } from '../agent-server/json.ts';

/**
 * Returns the path of the first difference between two JSON values, as `values.messages[1].content`; null when they are
 * the same. The order of keys does not count.
 */
export function findDifference(wanted: unknown, actual: unknown, path: string): string | null {
  if (wanted === actual) return null;
  if (Array.isArray(wanted) && Array.isArray(actual)) {
    for (let index = 0; index < Math.max(wanted.length, actual.length); index += 1) {
      const found = findDifference(wanted[index], actual[index], `${path}[${index}]`);
      if (found !== null) return found;
    }
    return null;
  }
  if (isObject(wanted) && isObject(actual)) {
    for (const key of new Set([...Object.keys(wanted), ...Object.keys(actual)])) {
      const found = findDifference(wanted[key], actual[key], `${path}.${key}`);
      if (found !== null) return found;
    }
    return null;
  }
  return path;
}

export function isSame(one: unknown, other: unknown): boolean {
  return findDifference(one, other, '') === null;
}

/** Compares only the keys that are wanted: a server may add some of its own. */
export function findMissing(wanted: Json, actual: Json, path: string): string | null {
  const common = Object.fromEntries(Object.keys(wanted).map((key) => [key, actual[key]]));
  return findDifference(wanted, common, path);
}
