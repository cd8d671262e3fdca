/**
 * Compiles the filter of an authorization handler to a scope. Values and `$eq` compare, `$contains` looks into a list,
 * several fields and `$and` must all hold, and of `$or` one. A filter is brought into the form "one of these objects is
 * contained", which Postgres finds by its index. Whatever is not understood allows nothing.
 */
import { toSqlText } from '@runyard/database';
import type { Scope } from '@runyard/run-engine';
import { isFields } from '../http/fields.ts';

/** A handler's filter that cannot be applied: nothing is allowed then. */
export class AuthFilterError extends Error {
  constructor(message: string) {
    super(`The filter of the auth handler cannot be applied: ${message}`);
    this.name = 'AuthFilterError';
  }
}

const LIST_MAX = 100;
const DEPTH_MAX = 8;
/** A filter with more alternatives than this would make every query slow. */
const ALTERNATIVES_MAX = 200;

/** Conditions on one row: by field, either the value it must have, or those that its list must contain. */
type Alternative = ReadonlyMap<string, { equals: Scalar } | { contains: readonly Scalar[] }>;
type Scalar = string | number | boolean | null;

const EVERYTHING: Alternative = new Map();

/** @throws AuthFilterError */
export function compileFilter(filter: unknown): Scope {
  const alternatives = compile(filter, 'filter', 0).map(toContainment);
  // A row that any alternative lets in is let in: an empty one makes the others superfluous.
  return alternatives.some((part) => Object.keys(part).length === 0) ? [{}] : alternatives;
}

function compile(filter: unknown, place: string, depth: number): Alternative[] {
  if (!isFields(filter)) throw new AuthFilterError(`${place} is not an object`);
  if (depth > DEPTH_MAX) throw new AuthFilterError(`it is nested more than ${DEPTH_MAX} levels deep`);
  return Object.entries(filter).reduce<Alternative[]>(
    (all, [key, condition]) => combine(all, compileEntry(key, condition, `${place}.${key}`, depth)),
    [EVERYTHING],
  );
}

function compileEntry(key: string, condition: unknown, place: string, depth: number): Alternative[] {
  if (key === '$or' || key === '$and') {
    const parts = requireList(condition, place).map((part, index) => compile(part, `${place}[${index}]`, depth + 1));
    return key === '$or' ? limit(parts.flat()) : parts.reduce(combine);
  }
  if (key.startsWith('$')) throw new AuthFilterError(`${place} is an unknown operator`);
  if (!isFields(condition)) return [new Map([[key, { equals: requireScalar(condition, place) }]])];
  const operators = Object.entries(condition);
  if (operators.length === 0) throw new AuthFilterError(`${place} has no operator`);
  return operators.reduce<Alternative[]>(
    (all, [operator, operand]) => combine(all, [compileOperator(key, operator, operand, `${place}.${operator}`)]),
    [EVERYTHING],
  );
}

function compileOperator(key: string, operator: string, operand: unknown, place: string): Alternative {
  if (operator === '$eq') return new Map([[key, { equals: requireScalar(operand, place) }]]);
  if (operator !== '$contains') throw new AuthFilterError(`${place} is an unknown operator`);
  const wanted = Array.isArray(operand) ? requireList(operand, place) : [operand];
  return new Map([[key, { contains: wanted.map((each) => requireScalar(each, place)) }]]);
}

/** Returns what satisfies one alternative of each side. */
function combine(left: Alternative[], right: Alternative[]): Alternative[] {
  return limit(left.flatMap((one) => right.flatMap((other) => merge(one, other) ?? [])));
}

/** Returns undefined when no row can satisfy both. */
function merge(one: Alternative, other: Alternative): Alternative | undefined {
  const merged = new Map(one);
  for (const [key, condition] of other) {
    const own = merged.get(key);
    if (own === undefined) merged.set(key, condition);
    else if ('contains' in own && 'contains' in condition) {
      merged.set(key, { contains: [...new Set([...own.contains, ...condition.contains])] });
    } else if (!('equals' in own && 'equals' in condition && own.equals === condition.equals)) return undefined;
  }
  return merged;
}

/** Returns the alternatives without those that are equal to another. */
function limit(alternatives: Alternative[]): Alternative[] {
  const distinct = [...new Map(alternatives.map((each) => [keyOf(each), each])).values()];
  if (distinct.length <= ALTERNATIVES_MAX) return distinct;
  throw new AuthFilterError(`it has more than ${ALTERNATIVES_MAX} alternatives`);
}

/** Returns a text that equal alternatives share, in whichever order their conditions come. */
function keyOf(alternative: Alternative): string {
  const conditions = [...alternative].map(([key, condition]) =>
    JSON.stringify([
      key,
      'equals' in condition ? condition.equals : condition.contains.map((each) => JSON.stringify(each)).sort(),
    ]),
  );
  return JSON.stringify(conditions.sort());
}

function toContainment(alternative: Alternative): Record<string, unknown> {
  return Object.fromEntries(
    [...alternative].map(([key, condition]) => [key, 'equals' in condition ? condition.equals : condition.contains]),
  );
}

function requireList(value: unknown, place: string): unknown[] {
  if (!Array.isArray(value)) throw new AuthFilterError(`${place} is not a list`);
  if (value.length === 0 || value.length > LIST_MAX) {
    throw new AuthFilterError(`${place} has ${value.length} entries, and may have 1 to ${LIST_MAX}`);
  }
  return value;
}

function requireScalar(value: unknown, place: string): Scalar {
  if (value === null || typeof value === 'boolean') return value;
  // Postgres replaces characters it cannot store: two different texts might become one.
  if (typeof value === 'string' && value === toSqlText(value)) return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new AuthFilterError(`${place} is not a storable text, number, boolean or null`);
}
