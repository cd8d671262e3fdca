import { toSqlJson, toSqlText } from '@runyard/database';
import { BackendError } from '../../backend.ts';
import type { Parameters } from '../parameters.ts';

const COMPARISONS = new Map([
  ['$gt', '>'],
  ['$gte', '>='],
  ['$lt', '<'],
  ['$lte', '<='],
]);

/**
 * Returns conditions for items whose value has these fields. A condition is a value to equal, or an object of
 * operators: `$eq`, `$ne`, `$gt`, `$gte`, `$lt`, `$lte`, `$in`, `$nin`. Numbers and texts are ordered; values of
 * different kinds are neither less nor greater.
 */
export function hasFields(filter: Record<string, unknown>, parameters: Parameters): string[] {
  return Object.entries(filter).flatMap(([field, condition]) => {
    if (condition === undefined) return [];
    if (!isOperators(condition)) return equals(field, condition, parameters);
    return Object.entries(condition).flatMap(([operator, operand]) => compares(field, operator, operand, parameters));
  });
}

function isOperators(condition: unknown): condition is Record<string, unknown> {
  if (condition === null || typeof condition !== 'object' || Array.isArray(condition)) return false;
  return Object.keys(condition).some((key) => key.startsWith('$'));
}

/** The index finds containment, which also holds for values with more in them, so the field is compared too. */
function equals(field: string, operand: unknown, parameters: Parameters): string[] {
  return [
    `i.value @> ${parameters.add(toSqlJson({ [field]: operand }))}::jsonb`,
    `${fieldOf(field, parameters)} = ${parameters.add(toSqlJson(operand))}::jsonb`,
  ];
}

function compares(field: string, operator: string, operand: unknown, parameters: Parameters): string[] {
  if (operator === '$eq') return equals(field, operand, parameters);
  const stored = fieldOf(field, parameters);
  if (operator === '$ne') return [`${stored} IS DISTINCT FROM ${parameters.add(toSqlJson(operand))}::jsonb`];
  if (operator === '$in' || operator === '$nin') {
    if (!Array.isArray(operand)) throw new BackendError('invalid', `The operand of ${operator} must be a list.`);
    const listed = `coalesce(${stored} = ANY(${parameters.add(operand.map(toSqlJson))}::jsonb[]), false)`;
    return [operator === '$in' ? listed : `NOT ${listed}`];
  }
  const comparison = COMPARISONS.get(operator);
  if (!comparison) throw new BackendError('invalid', `The store knows no filter operator ${operator}.`);
  const given = `${parameters.add(toSqlJson(operand))}::jsonb`;
  return [`jsonb_typeof(${stored}) = jsonb_typeof(${given})`, `${stored} ${comparison} ${given}`];
}

function fieldOf(field: string, parameters: Parameters): string {
  return `(i.value -> ${parameters.add(toSqlText(field))}::text)`;
}
