import type { QueryFlag } from '@runyard/contracts';

/** Returns whether a query parameter is set to a true value. */
export function isSet(flag: QueryFlag | undefined): boolean {
  return flag === '1' || flag?.toLowerCase() === 'true';
}
