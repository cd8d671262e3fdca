import { UnprocessableError } from '@runyard/service-kit';

const OPERATORS = new Set(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin']);

/**
 * Checks a filter: each value is a plain value or an object of operators. An unknown operator would silently match
 * anything.
 *
 * @throws UnprocessableError that names the field
 */
export function checkFilter(filter: Record<string, unknown>): Record<string, unknown> {
  for (const [field, condition] of Object.entries(filter)) {
    if (condition === null || typeof condition !== 'object' || Array.isArray(condition)) continue;
    const keys = Object.keys(condition);
    if (!keys.some((key) => key.startsWith('$'))) continue;
    const unknown = keys.find((key) => !OPERATORS.has(key));
    if (unknown !== undefined) {
      throw new UnprocessableError(
        `filter.${field} has an unknown operator ${unknown}; known are ${[...OPERATORS].join(', ')}`,
      );
    }
    for (const operator of ['$in', '$nin']) {
      const operand = (condition as Record<string, unknown>)[operator];
      if (operand !== undefined && !Array.isArray(operand)) {
        throw new UnprocessableError(`filter.${field}.${operator} must be a list`);
      }
    }
  }
  return filter;
}
