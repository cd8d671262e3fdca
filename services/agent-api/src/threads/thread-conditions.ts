import type { ThreadCountRequest, ThreadSearchRequest } from '@runyard/contracts';
import { toSqlJson } from '@runyard/database';
import { isRestricted, type Scope } from '../access/scope.ts';
import { whereInScope } from '../access/where-in-scope.ts';
import { Prisma } from '../connections/prisma.ts';

export type ThreadFilters = ThreadCountRequest & Pick<ThreadSearchRequest, 'ids'>;

/**
 * State is JSON text of any kind; jsonb takes neither U+0000 nor lone surrogates, so their escapes are read as U+FFFD.
 */
const VALUES_JSON = Prisma.raw(
  String.raw`(SELECT regexp_replace(convert_from(s."values", 'UTF8'), '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})',
                                    '\1\\ufffd', 'gi')::jsonb FROM thread_state s WHERE s.thread_id = t.thread_id)`,
);

/** Conditions on thread `t`, by what evaluates them. */
export interface ThreadConditions {
  /** Conditions on columns that an index holds, and those that most rows fulfill. */
  byColumn: Prisma.Sql[];
  /** Conditions on metadata: the filter, and what the caller may see. */
  byMetadata: Prisma.Sql[];
  /** Conditions on values, which are read row by row. */
  byValues: Prisma.Sql[];
}

export function conditionsOf(scope: Scope, filters: ThreadFilters): ThreadConditions {
  const byColumn: Prisma.Sql[] = [];
  // Clients that have no ids to name send an empty list.
  if (filters.ids?.length) byColumn.push(Prisma.sql`t.thread_id = ANY(${filters.ids}::uuid[])`);
  if (filters.status) byColumn.push(Prisma.sql`t.status = ${filters.status}`);
  if (filters.state_updated_after) {
    byColumn.push(Prisma.sql`t.state_updated_at > ${filters.state_updated_after}::timestamptz`);
  }
  if (filters.state_updated_before) {
    byColumn.push(Prisma.sql`t.state_updated_at < ${filters.state_updated_before}::timestamptz`);
  }
  const byMetadata = [
    ...(isRestricted(scope) ? [whereVisible(scope)] : []),
    ...[filters.metadata ?? {}].filter(isFilled).map(hasMetadata),
  ];
  const { exclude_metadata: excluded = {} } = filters;
  if (isFilled(excluded)) {
    // No index finds what does not match: beside other conditions on metadata it is checked where those are.
    (byMetadata.length > 0 ? byMetadata : byColumn).push(Prisma.sql`NOT ${hasMetadata(excluded)}`);
  }
  const byValues = isFilled(filters.values ?? {})
    ? [Prisma.sql`${VALUES_JSON} @> ${toSqlJson(filters.values)}::jsonb`]
    : [];
  return { byColumn, byMetadata, byValues };
}

/** Returns the condition on threads `t` that the caller may see. */
export function whereVisible(scope: Scope): Prisma.Sql {
  return whereInScope(scope, Prisma.raw('t.metadata'));
}

export function joinConditions(conditions: Prisma.Sql[]): Prisma.Sql {
  return conditions.length === 0 ? Prisma.sql`TRUE` : Prisma.join(conditions, ' AND ');
}

function hasMetadata(metadata: object): Prisma.Sql {
  return Prisma.sql`(t.metadata @> ${toSqlJson(metadata)}::jsonb)`;
}

function isFilled(filter: object): boolean {
  return Object.keys(filter).length > 0;
}
