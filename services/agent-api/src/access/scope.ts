import type { Scope } from '@runyard/run-engine';

/**
 * A filter on metadata that says which rows a caller may see, `{}` for all. It is a parameter of every store call, so
 * that a query without it does not compile.
 */
export type { Scope };

export const UNRESTRICTED: Scope = {};

/** Returns whether some rows may be hidden from the caller. */
export function isRestricted(scope: Scope): boolean {
  return Object.keys(scope).length > 0;
}
