import { isInScope, type Scope } from '@runyard/run-engine';
import { ForbiddenError } from '@runyard/service-kit';

/**
 * The rows that a caller may see: those whose metadata contain one of these objects, `[{}]` for all and `[]` for none.
 * It is a parameter of every store call, so that a query without it does not compile.
 */
export { isInScope, type Scope };

export const UNRESTRICTED: Scope = [{}];

/** Returns whether some rows may be hidden from the caller. */
export function isRestricted(scope: Scope): boolean {
  return !scope.some((part) => Object.keys(part).length === 0);
}

/**
 * Returns the fields that everything in the scope has in common, such as its owner. They are written last into whatever
 * the caller creates or changes: it can neither give a row away nor put it upon others.
 */
export function fieldsOf(scope: Scope): Record<string, unknown> {
  const [only, ...others] = scope;
  if (only === undefined || others.length > 0) return {};
  return Object.fromEntries(Object.entries(only).filter(([, wanted]) => !Array.isArray(wanted)));
}

/**
 * Returns the metadata with the fields of the scope. @throws ForbiddenError when what has them would be hidden from the
 * caller
 */
export function withinScope(metadata: Record<string, unknown>, scope: Scope): Record<string, unknown> {
  const complete = { ...metadata, ...fieldsOf(scope) };
  if (!isInScope(complete, scope)) throw outOfScope();
  return complete;
}

export function outOfScope(): ForbiddenError {
  return new ForbiddenError('Not authorized: the metadata do not fit what you may see', {
    code: 'metadata_out_of_scope',
  });
}

/** Returns the metadata without the fields that decide who sees something: those of another object decide nothing. */
export function withoutScopeFields(metadata: Record<string, unknown>, scope: Scope): Record<string, unknown> {
  const deciding = new Set(scope.flatMap((part) => Object.keys(part)));
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !deciding.has(name)));
}
