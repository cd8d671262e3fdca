import type { Prisma } from '../generated/client.ts';
import { type ColumnFinder, toCondition } from './filter/filter-sql.ts';
import { parseFilter } from './filter/parse-filter.ts';
import type { ScimObject } from './resources/normalize.ts';
import { type Projection, readProjection } from './resources/project.ts';
import type { ResourceType } from './schemas/resource-type.ts';
import { badRequest } from './scim-error.ts';

const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const COUNT_MAX = 200;
const COUNT_DEFAULT = 100;

/** A page of resources that a client asks for. */
export interface ListRequest {
  /** Null: all. */
  condition: Prisma.Sql | null;
  /** From 1. */
  startIndex: number;
  count: number;
  projection: Projection;
}

/** Reads the query of a list, or the body of a search, which has the same fields. @throws BadRequestError */
export function readListRequest(type: ResourceType, fields: ScimObject, find: ColumnFinder): ListRequest {
  const { filter } = fields;
  if (filter !== undefined && filter !== null && typeof filter !== 'string') {
    throw badRequest('invalidFilter', 'filter must be a text');
  }
  return {
    condition: filter ? toCondition(parseFilter(filter), find) : null,
    startIndex: Math.max(1, readInteger(fields, 'startIndex') ?? 1),
    count: Math.min(COUNT_MAX, Math.max(0, readInteger(fields, 'count') ?? COUNT_DEFAULT)),
    projection: readProjection(type, {
      attributes: readNames(fields, 'attributes'),
      excludedAttributes: readNames(fields, 'excludedAttributes'),
    }),
  };
}

export function listResponse(page: { total: number; startIndex: number; resources: ScimObject[] }): ScimObject {
  return {
    schemas: [LIST_SCHEMA],
    totalResults: page.total,
    startIndex: page.startIndex,
    itemsPerPage: page.resources.length,
    Resources: page.resources,
  };
}

const INTEGER_MAX = 2_147_483_647;

function readInteger(fields: ScimObject, name: string): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return undefined;
  const number = typeof value === 'string' && /^[+-]?\d+$/.test(value.trim()) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number))
    throw badRequest('invalidValue', `${name} must be an integer`);
  return Math.min(number, INTEGER_MAX);
}

function readNames(fields: ScimObject, name: string): string | string[] | undefined {
  const value = fields[name];
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined;
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value as string[];
  throw badRequest('invalidValue', `${name} must be a list of names`);
}
