import type { Filter, FilterValue } from './parse-filter.ts';

/** Returns whether a value of a list matches the filter in the brackets of a path; texts match in any case. */
export function matchesValue(filter: Filter, value: unknown): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((each) => matchesValue(each, value));
    case 'or':
      return filter.filters.some((each) => matchesValue(each, value));
    case 'not':
      return !matchesValue(filter.filter, value);
    case 'present':
      return read(value, filter.path) !== undefined;
    case 'comparison':
      return compare(read(value, filter.path), filter.operator, filter.value);
    default:
      return false;
  }
}

function read(value: unknown, name: string): unknown {
  if (value === null || typeof value !== 'object') return name.toLowerCase() === 'value' ? value : undefined;
  return Object.entries(value).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}

function compare(actual: unknown, operator: string, expected: FilterValue): boolean {
  const [a, b] = [fold(actual ?? null), fold(expected)];
  if (operator === 'eq') return a === b;
  if (operator === 'ne') return a !== b;
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  switch (operator) {
    case 'co':
      return a.includes(b);
    case 'sw':
      return a.startsWith(b);
    case 'ew':
      return a.endsWith(b);
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
    case 'lt':
      return a < b;
    default:
      return a <= b;
  }
}

/** Booleans come as texts from some identity providers. */
function fold(value: unknown): unknown {
  return typeof value === 'string' || typeof value === 'boolean' ? String(value).toLowerCase() : value;
}
