import type { ThreadSearchRequest } from '@runyard/contracts';
import { EXACT_TOTAL_MAX, type Page, toPage, totalIfKnown } from '../pagination.ts';
import { Prisma, type PrismaClient } from '../prisma.ts';
import type { Scope } from '../scope.ts';
import { columnsOf } from './thread-columns.ts';
import { all, conditionsOf, type ThreadConditions, type ThreadFilters } from './thread-conditions.ts';
import { orderOf } from './thread-order.ts';
import type { ThreadRecord } from './thread-record.ts';

export interface ThreadSearch extends ThreadFilters, Pick<ThreadSearchRequest, 'sort_by' | 'sort_order'> {
  limit: number;
  offset: number;
  /** Whether rows carry values and interrupts, which may be large. */
  withState: boolean;
}

/** Rows in the order asked for that are looked at before those that match a filter on metadata are all looked up and sorted. */
const LOOKED_AT = 3_000;

/**
 * Finds threads by a filter on metadata and an order that no one index serves.
 *
 * Common metadata is found by walking along the order: a page is full after few rows. Rare metadata is found by the index on
 * metadata, and what matches is sorted. Which of the two it is nobody knows before: so the walk is tried first, over a number of
 * rows that costs little, and the index is asked when the page is not full by then. Left to the planner's guess the wrong one
 * of the two takes seconds with a million threads.
 */
export async function searchThreads(
  prisma: PrismaClient,
  scope: Scope,
  search: ThreadSearch,
): Promise<Page<ThreadRecord>> {
  const conditions = conditionsOf(scope, search);
  const isWalk = conditions.byMetadata.length > 0 && !search.ids && conditions.byValues.length === 0;
  if (!isWalk) {
    const found = await select(
      prisma,
      search,
      matching([...conditions.byColumn, ...conditions.byValues, ...conditions.byMetadata], search),
    );
    return toPage(
      found,
      search,
      totalIfKnown(found, search) ?? (await countThreads(prisma, scope, search, EXACT_TOTAL_MAX + 1)),
    );
  }
  const walked =
    search.offset + search.limit < LOOKED_AT ? await select(prisma, search, alongOrder(conditions, search)) : [];
  const found = walked.length > search.limit ? walked : await select(prisma, search, byMetadata(conditions, search));
  return toPage(
    found,
    search,
    totalIfKnown(found, search) ?? (await countThreads(prisma, scope, search, EXACT_TOTAL_MAX + 1)),
  );
}

export async function countThreads(
  prisma: PrismaClient,
  scope: Scope,
  filters: ThreadFilters,
  atMost?: number,
): Promise<number> {
  const { byColumn, byMetadata, byValues } = conditionsOf(scope, filters);
  const limit = atMost === undefined ? Prisma.empty : Prisma.sql`LIMIT ${atMost}`;
  const [row] = await prisma.$queryRaw<{ total: bigint }[]>`
    SELECT count(*) AS total FROM
      (SELECT 1 FROM thread t WHERE ${all([...byColumn, ...byMetadata, ...byValues])} ${limit}) AS matching`;
  return Number(row?.total ?? 0);
}

/** Ids first and rows afterwards: what a page passes over is never fetched. */
function select(prisma: PrismaClient, search: ThreadSearch, ids: Prisma.Sql): Promise<ThreadRecord[]> {
  const states = search.withState ? Prisma.sql`LEFT JOIN thread_state s ON s.thread_id = t.thread_id` : Prisma.empty;
  return prisma.$queryRaw<ThreadRecord[]>`
    WITH page AS MATERIALIZED (${ids} LIMIT ${search.limit + 1} OFFSET ${search.offset})
    SELECT ${columnsOf(search.withState)} FROM page JOIN thread t USING (thread_id) ${states}
    ORDER BY ${orderOf(search, 't')}`;
}

function matching(conditions: Prisma.Sql[], search: ThreadSearch): Prisma.Sql {
  return Prisma.sql`SELECT t.thread_id FROM thread t WHERE ${all(conditions)} ORDER BY ${orderOf(search, 't')}`;
}

function alongOrder({ byColumn, byMetadata: metadata }: ThreadConditions, search: ThreadSearch): Prisma.Sql {
  return Prisma.sql`
    SELECT t.thread_id FROM (
      SELECT * FROM thread t WHERE ${all(byColumn)} ORDER BY ${orderOf(search, 't')} LIMIT ${LOOKED_AT}) AS t
    WHERE ${all(metadata)} ORDER BY ${orderOf(search, 't')}`;
}

function byMetadata({ byColumn, byMetadata: metadata }: ThreadConditions, search: ThreadSearch): Prisma.Sql {
  return Prisma.sql`
    SELECT m.thread_id FROM (
      SELECT t.thread_id, t.status, t.created_at, t.updated_at, t.state_updated_at FROM thread t
      -- Sorted outside: an order in here would be an invitation to walk along it.
      WHERE ${all([...metadata, ...byColumn])} OFFSET 0) AS m
    ORDER BY ${orderOf(search, 'm')}`;
}
