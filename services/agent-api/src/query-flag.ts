import type { QueryFlag } from '@runyard/contracts';

/** Whether a query parameter says yes. */
export function isSet(flag: QueryFlag | undefined): boolean {
  return flag === '1' || flag?.toLowerCase() === 'true';
}
