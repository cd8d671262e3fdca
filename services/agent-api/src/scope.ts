import type { Scope } from '@runyard/run-engine';

/**
 * Which rows a caller may see: a filter on their metadata, `{}` for all of them. A parameter of every store call, so that
 * a query without it does not compile.
 */
export type { Scope };

export const UNRESTRICTED: Scope = {};

/** Whether there may be anything that the caller is not to see. */
export function isRestricted(scope: Scope): boolean {
  return Object.keys(scope).length > 0;
}
