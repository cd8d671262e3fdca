import type { ThreadCountRequest, ThreadSearchRequest } from '@runyard/contracts';
import { toSqlJson } from '@runyard/database';
import { EXACT_TOTAL_MAX, type Page, toPage, totalIfKnown } from '../pagination.ts';
import { Prisma, type PrismaClient } from '../prisma.ts';
import type { Scope } from '../scope.ts';
import type { ThreadRecord } from './thread-record.ts';

type Filters = ThreadCountRequest & Pick<ThreadSearchRequest, 'ids'>;
type Order = Pick<ThreadSearchRequest, 'sort_by' | 'sort_order'>;

export interface ThreadSearch extends Filters, Order {
  limit: number;
  offset: number;
  /** Whether rows carry values and interrupts, which may be large. */
  withState: boolean;
}

const SORT_COLUMNS = {
  thread_id: 't.thread_id',
  status: 't.status',
  created_at: 't.created_at',
  updated_at: 't.updated_at',
  state_updated_at: 't.state_updated_at',
} as const;

const COLUMNS =
  Prisma.raw(`t.thread_id AS "threadId", t.status, t.metadata, t.config, t.error, t.created_at AS "createdAt",
  t.updated_at AS "updatedAt", t.state_updated_at AS "stateUpdatedAt"`);
const STATE_COLUMNS = Prisma.raw(', s."values", s.interrupts');
const WITH_STATE = Prisma.raw('thread t LEFT JOIN thread_state s USING (thread_id)');
const ALONE = Prisma.raw('thread t');
/** State is JSON text of any kind; jsonb takes neither U+0000 nor lone surrogates, so their escapes are read as U+FFFD. */
const VALUES_JSON = Prisma.raw(
  String.raw`regexp_replace(convert_from(s."values", 'UTF8'), '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})',
                            '\1\\ufffd', 'gi')::jsonb`,
);

/** Threads as listing and reading need them. Their status is the run engine's to change. */
export class ThreadStore {
  readonly #prisma: PrismaClient;

  constructor(prisma: PrismaClient) {
    this.#prisma = prisma;
  }

  async find(scope: Scope, threadId: string): Promise<ThreadRecord | undefined> {
    const rows = await this.#prisma.$queryRaw<ThreadRecord[]>`
      SELECT ${COLUMNS}${STATE_COLUMNS} FROM ${WITH_STATE} WHERE t.thread_id = ${threadId}::uuid AND ${visible(scope)}`;
    return rows[0];
  }

  /** The thread without its state. */
  async findBare(scope: Scope, threadId: string): Promise<ThreadRecord | undefined> {
    const rows = await this.#prisma.$queryRaw<ThreadRecord[]>`
      SELECT ${COLUMNS} FROM ${ALONE} WHERE t.thread_id = ${threadId}::uuid AND ${visible(scope)}`;
    return rows[0];
  }

  /** Merges metadata key by key; a null stays as null. False when there is no such thread. */
  async mergeMetadata(scope: Scope, threadId: string, metadata: object): Promise<boolean> {
    const changed = await this.#prisma.$executeRaw`
      UPDATE thread t SET metadata = t.metadata || ${toSqlJson(metadata)}::jsonb, updated_at = now()
      WHERE t.thread_id = ${threadId}::uuid AND ${visible(scope)}`;
    return changed > 0;
  }

  async search(scope: Scope, search: ThreadSearch): Promise<Page<ThreadRecord>> {
    const where = matching(scope, search);
    const from = search.withState || search.values ? WITH_STATE : ALONE;
    const order = Prisma.raw(
      `${SORT_COLUMNS[search.sort_by ?? 'updated_at']} ${search.sort_order === 'asc' ? 'ASC' : 'DESC'}, t.thread_id`,
    );
    const rows = await this.#prisma.$queryRaw<ThreadRecord[]>`
      SELECT ${COLUMNS}${search.withState ? STATE_COLUMNS : Prisma.empty} FROM ${from} WHERE ${where}
      ORDER BY ${order} LIMIT ${search.limit + 1} OFFSET ${search.offset}`;
    return toPage(rows, search, totalIfKnown(rows, search) ?? (await this.#count(scope, search, EXACT_TOTAL_MAX + 1)));
  }

  async count(scope: Scope, filters: Filters): Promise<number> {
    return this.#count(scope, filters);
  }

  async #count(scope: Scope, filters: Filters, atMost?: number): Promise<number> {
    const limit = atMost === undefined ? Prisma.empty : Prisma.sql`LIMIT ${atMost}`;
    const [row] = await this.#prisma.$queryRaw<{ total: bigint }[]>`
      SELECT count(*) AS total FROM
        (SELECT 1 FROM ${filters.values ? WITH_STATE : ALONE} WHERE ${matching(scope, filters)} ${limit}) AS matching`;
    return Number(row?.total ?? 0);
  }
}

function visible(scope: Scope): Prisma.Sql {
  return Object.keys(scope).length === 0 ? Prisma.sql`TRUE` : Prisma.sql`t.metadata @> ${toSqlJson(scope)}::jsonb`;
}

function matching(scope: Scope, filters: Filters): Prisma.Sql {
  const conditions = [visible(scope)];
  if (filters.ids) conditions.push(Prisma.sql`t.thread_id = ANY(${filters.ids}::uuid[])`);
  if (filters.status) conditions.push(Prisma.sql`t.status = ${filters.status}`);
  if (isFilled(filters.metadata)) conditions.push(Prisma.sql`t.metadata @> ${toSqlJson(filters.metadata)}::jsonb`);
  if (isFilled(filters.values)) conditions.push(Prisma.sql`${VALUES_JSON} @> ${toSqlJson(filters.values)}::jsonb`);
  if (filters.state_updated_after) {
    conditions.push(Prisma.sql`t.state_updated_at > ${filters.state_updated_after}::timestamptz`);
  }
  if (filters.state_updated_before) {
    conditions.push(Prisma.sql`t.state_updated_at < ${filters.state_updated_before}::timestamptz`);
  }
  return Prisma.join(conditions, ' AND ');
}

function isFilled(filter: object | undefined): boolean {
  return filter !== undefined && Object.keys(filter).length > 0;
}
