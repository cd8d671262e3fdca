import type { ThreadSearchRequest } from '@runyard/contracts';
import type { Scope } from '../access/scope.ts';
import { Prisma } from '../connections/prisma.ts';
import { LIST_BYTES_MAX } from '../http/list-room.ts';
import { EXACT_TOTAL_MAX, type Page, toPage, totalIfKnown } from '../http/pagination.ts';
import type { StoredThread } from './stored-thread.ts';
import { columnsOf } from './thread-columns.ts';
import { conditionsOf, joinConditions, type ThreadConditions, type ThreadFilters } from './thread-conditions.ts';
import { orderOf } from './thread-order.ts';

/** A client, or a transaction of it. */
type Db = Pick<Prisma.TransactionClient, '$queryRaw'>;

export interface ThreadSearch extends ThreadFilters, Pick<ThreadSearchRequest, 'sort_by' | 'sort_order'> {
  limit: number;
  offset: number;
  /** True when rows carry values and interrupts, which may be large. */
  withState: boolean;
  /** Bytes that may be read: the rows of a page with more have no content. */
  maxBytes: number;
}

/** A page with the bytes that its rows have at rest. */
export type SizedPage = Page<StoredThread> & { bytes: number };

/**
 * Rows that are read along the order before all matches of a metadata filter are looked up and sorted. With a million
 * threads the two cost about the same when one thread in a hundred matches.
 */
const SCANNED_ROWS_MAX = 1_500;

/**
 * Finds threads by a filter on metadata and an order that no one index serves.
 *
 * Common metadata is found by walking along the order: a page is full after few rows. Rare metadata is found by the
 * index on metadata, and the matches are sorted. Nobody knows beforehand which one it is: so the walk is tried first,
 * over a number of rows that costs little, and the index is used when the page is not full by then. Left to the
 * planner's guess, the wrong one of the two takes seconds with a million threads.
 */
export async function searchThreadRows(db: Db, scope: Scope, search: ThreadSearch): Promise<SizedPage> {
  const conditions = conditionsOf(scope, search);
  const { byColumn, byMetadata, byValues } = conditions;
  const isWalk = byMetadata.length > 0 && byValues.length === 0 && !search.ids?.length;
  if (isWalk && search.offset + search.limit < SCANNED_ROWS_MAX) {
    const found = await select(db, search, alongOrder(conditions, search));
    if (lengthOf(found) > search.limit) return pageOf(found, search, await countUpToExact(db, scope, search));
  }
  if (isWalk) {
    const found = await select(db, search, byIndexOnMetadata(conditions, search));
    const total = found[0]?.matches ?? totalIfKnown({ length: lengthOf(found) }, search);
    return pageOf(found, search, total ?? (await countUpToExact(db, scope, search)));
  }
  const found = await select(db, search, inOrder([...byColumn, ...byMetadata, ...byValues], search));
  const total = totalIfKnown({ length: lengthOf(found) }, search);
  return pageOf(found, search, total ?? (await countUpToExact(db, scope, search)));
}

function countUpToExact(db: Db, scope: Scope, filters: ThreadFilters): Promise<number> {
  return countThreadRows(db, scope, filters, EXACT_TOTAL_MAX + 1);
}

export async function countThreadRows(db: Db, scope: Scope, filters: ThreadFilters, atMost?: number): Promise<number> {
  const { byColumn, byMetadata, byValues } = conditionsOf(scope, filters);
  const limit = atMost === undefined ? Prisma.empty : Prisma.sql`LIMIT ${atMost}`;
  const [row] = await db.$queryRaw<{ total: bigint }[]>`
    SELECT count(*) AS total FROM
      (SELECT 1 FROM thread t WHERE ${joinConditions([...byColumn, ...byMetadata, ...byValues])} ${limit}) AS matching`;
  return Number(row?.total ?? 0);
}

interface Found extends StoredThread {
  /** The number of all matches, where finding this one has shown that. */
  matches: number | null;
  /** The number of rows of the page, with those that were too much for it. */
  length: number;
  /** The bytes of all rows of the page. */
  pageBytes: number;
}

const lengthOf = (found: Found[]) => found[0]?.length ?? 0;

function pageOf(found: Found[], search: ThreadSearch, counted: number): SizedPage {
  return { ...toPage(found, search, counted, lengthOf(found)), bytes: found[0]?.pageBytes ?? 0 };
}

/**
 * Selects ids first and rows afterwards: skipped rows are never fetched. A page that has more than `LIST_BYTES_MAX` ends
 * earlier, and names where the next one begins; one thread alone may have more.
 *
 * @param ids returns `thread_id` and `matches`
 */
function select(db: Db, search: ThreadSearch, ids: Prisma.Sql): Promise<Found[]> {
  const state = search.withState ? STATE_BYTES : Prisma.empty;
  return db.$queryRaw<Found[]>`
    WITH page AS MATERIALIZED (${ids} LIMIT ${search.limit + 1} OFFSET ${search.offset}),
    sized AS MATERIALIZED (
      SELECT thread_id, page.matches, (count(*) OVER ())::int AS length, row_number() OVER up_to_here AS place,
             sum(octet_length(t.metadata::text) + octet_length(t.config::text) ${state}) OVER up_to_here AS bytes
      FROM page JOIN thread t USING (thread_id) LEFT JOIN thread_state s USING (thread_id)
      WINDOW up_to_here AS (ORDER BY ${orderOf(search, 't')} ROWS UNBOUNDED PRECEDING)),
    fitting AS MATERIALIZED (
      SELECT *, (max(bytes) OVER ())::float8 AS page_bytes FROM sized WHERE place = 1 OR bytes <= ${LIST_BYTES_MAX})
    SELECT ${columnsOf(search.withState)}, f.matches, f.length, f.page_bytes AS "pageBytes"
    FROM fitting f LEFT JOIN thread t ON t.thread_id = f.thread_id AND f.page_bytes <= ${search.maxBytes}::float8
         LEFT JOIN thread_state s ON s.thread_id = t.thread_id
    ORDER BY f.place`;
}

const STATE_BYTES = Prisma.raw('+ coalesce(octet_length(s."values"), 0) + coalesce(octet_length(s.interrupts), 0)');
const COUNT_UNKNOWN = Prisma.raw('t.thread_id, NULL::int AS matches');

function inOrder(conditions: Prisma.Sql[], search: ThreadSearch): Prisma.Sql {
  return Prisma.sql`SELECT ${COUNT_UNKNOWN} FROM thread t WHERE ${joinConditions(conditions)} ORDER BY ${orderOf(search, 't')}`;
}

function alongOrder({ byColumn, byMetadata }: ThreadConditions, search: ThreadSearch): Prisma.Sql {
  return Prisma.sql`
    SELECT ${COUNT_UNKNOWN} FROM (
      SELECT * FROM thread t WHERE ${joinConditions(byColumn)} ORDER BY ${orderOf(search, 't')} LIMIT ${SCANNED_ROWS_MAX}) AS t
    WHERE ${joinConditions(byMetadata)} ORDER BY ${orderOf(search, 't')}`;
}

function byIndexOnMetadata({ byColumn, byMetadata }: ThreadConditions, search: ThreadSearch): Prisma.Sql {
  return Prisma.sql`
    SELECT m.thread_id, (count(*) OVER ())::int AS matches FROM (
      SELECT t.thread_id, t.status, t.created_at, t.updated_at, t.state_updated_at FROM thread t
      -- Sorted outside: an order in here would be an invitation to walk along it.
      WHERE ${joinConditions([...byMetadata, ...byColumn])} OFFSET 0) AS m
    ORDER BY ${orderOf(search, 'm')}`;
}
