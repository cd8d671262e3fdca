import { isUuid } from '@runyard/contracts';
import { Prisma } from '../../generated/client.ts';
import { badRequest } from '../scim-error.ts';
import type { ComparisonOperator, Filter, FilterValue } from './parse-filter.ts';

type Sql = Prisma.Sql;

/** An attribute as SQL: of what kind it is, and where it is read. */
export type Column =
  /** `expression` is what comparisons are made with: in lower case unless `isExact`. */
  | { kind: 'text'; expression: Sql; isExact: boolean }
  | { kind: 'uuid' | 'boolean' | 'time'; expression: Sql }
  /** A list: the condition about one of its values is put into `exists`. */
  | {
      kind: 'list';
      exists: (condition: Sql) => Sql;
      find: ColumnFinder;
      /** Returns a condition that an index serves, for filters in brackets that it knows. */
      indexed?: (filter: Filter) => Sql | undefined;
    };

/** Finds the column of an attribute by its path; undefined: it cannot be filtered by. */
export type ColumnFinder = (path: string) => Column | undefined;

const FALSE = Prisma.sql`false`;

/**
 * Translates a filter into a condition; everything that a client sent is a parameter.
 *
 * @throws BadRequestError `invalidFilter` for attributes and comparisons that are not supported
 */
export function toCondition(filter: Filter, find: ColumnFinder): Sql {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return Prisma.sql`(${Prisma.join(
        filter.filters.map((each) => toCondition(each, find)),
        filter.kind === 'and' ? ' AND ' : ' OR ',
      )})`;
    case 'not':
      return Prisma.sql`(${toCondition(filter.filter, find)}) IS NOT TRUE`;
    case 'present':
      return onColumn(columnOf(filter.path, find), null, (column) => isPresent(column));
    case 'comparison':
      return onColumn(columnOf(filter.path, find), filter.path, (column) => compare(column, filter));
    case 'value': {
      const list = columnOf(filter.path, find);
      if (list.kind !== 'list') throw badRequest('invalidFilter', `${filter.path} is no list`);
      return list.indexed?.(filter.filter) ?? list.exists(toCondition(filter.filter, list.find));
    }
  }
}

function columnOf(path: string, find: ColumnFinder): Column {
  const column = find(path);
  if (!column) throw badRequest('invalidFilter', `Filters by ${path.slice(0, 200)} are not supported`);
  return column;
}

/** A comparison with a list itself is one with the `value` of its elements. */
function onColumn(
  column: Column,
  path: string | null,
  condition: (column: Exclude<Column, { kind: 'list' }>) => Sql,
): Sql {
  if (column.kind !== 'list') return condition(column);
  if (path === null) return column.exists(Prisma.sql`true`);
  const inner = columnOf('value', column.find);
  return column.exists(onColumn(inner, null, condition));
}

function isPresent({ kind, expression }: Exclude<Column, { kind: 'list' }>): Sql {
  return kind === 'text' ? Prisma.sql`(${expression}) <> ''` : Prisma.sql`(${expression}) IS NOT NULL`;
}

function compare(
  column: Exclude<Column, { kind: 'list' }>,
  { operator, value, path }: { operator: ComparisonOperator; value: FilterValue; path: string },
): Sql {
  if (value === null) return compareWithNull(column, operator, path);
  if (column.kind === 'text') return compareText(column, operator, value);
  if (column.kind === 'time') return compareTime(column.expression, operator, value, path);
  const isEqual = operator === 'eq';
  if (!isEqual && operator !== 'ne') throw badRequest('invalidFilter', `${path} is only compared with eq and ne`);
  const equal =
    column.kind === 'uuid' ? equalUuid(column.expression, value) : equalBoolean(column.expression, value, path);
  return isEqual ? equal : Prisma.sql`(${equal}) IS NOT TRUE`;
}

function compareWithNull(column: Exclude<Column, { kind: 'list' }>, operator: ComparisonOperator, path: string): Sql {
  if (operator === 'eq') return Prisma.sql`(${isPresent(column)}) IS NOT TRUE`;
  if (operator === 'ne') return isPresent(column);
  throw badRequest('invalidFilter', `${path} cannot be compared with null so`);
}

function compareText(column: Column & { kind: 'text' }, operator: ComparisonOperator, value: FilterValue): Sql {
  const text = column.isExact ? String(value) : String(value).toLowerCase();
  const { expression } = column;
  switch (operator) {
    case 'eq':
      return Prisma.sql`${expression} = ${text}`;
    case 'ne':
      return Prisma.sql`${expression} IS DISTINCT FROM ${text}`;
    case 'co':
      return Prisma.sql`strpos(${expression}, ${text}) > 0`;
    case 'sw':
      return Prisma.sql`starts_with(${expression}, ${text})`;
    case 'ew':
      return Prisma.sql`right(${expression}, length(${text})) = ${text}`;
    default:
      return ordered(expression, operator, Prisma.sql`${text}`);
  }
}

function compareTime(expression: Sql, operator: ComparisonOperator, value: FilterValue, path: string): Sql {
  const time = typeof value === 'string' ? new Date(value) : new Date(Number.NaN);
  const year = time.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9999)
    throw badRequest('invalidFilter', `${path} is compared with a time`);
  const bound = Prisma.sql`${time}::timestamptz`;
  if (operator === 'eq') return Prisma.sql`${expression} = ${bound}`;
  if (operator === 'ne') return Prisma.sql`${expression} <> ${bound}`;
  return ordered(expression, operator, bound);
}

function ordered(expression: Sql, operator: ComparisonOperator, bound: Sql): Sql {
  switch (operator) {
    case 'gt':
      return Prisma.sql`${expression} > ${bound}`;
    case 'ge':
      return Prisma.sql`${expression} >= ${bound}`;
    case 'lt':
      return Prisma.sql`${expression} < ${bound}`;
    case 'le':
      return Prisma.sql`${expression} <= ${bound}`;
    default:
      throw badRequest('invalidFilter', `${operator} is not supported here`);
  }
}

function equalUuid(expression: Sql, value: FilterValue): Sql {
  return typeof value === 'string' && isUuid(value) ? Prisma.sql`${expression} = ${value}::uuid` : FALSE;
}

function equalBoolean(expression: Sql, value: FilterValue, path: string): Sql {
  const text = String(value).toLowerCase();
  if (text !== 'true' && text !== 'false') throw badRequest('invalidFilter', `${path} is true or false`);
  return Prisma.sql`${expression} = ${text === 'true'}`;
}
