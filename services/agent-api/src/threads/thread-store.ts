import { toSqlJson } from '@runyard/database';
import { type DataCipher, EncryptionError, JSON_PLACES } from '@runyard/encryption';
import type { ThreadTtl } from '@runyard/run-engine';
import { UnprocessableError } from '@runyard/service-kit';
import type pg from 'pg';
import type { Scope } from '../access/scope.ts';
import { whereInScope } from '../access/where-in-scope.ts';
import { Prisma, type PrismaClient } from '../connections/prisma.ts';
import { requireSearchable } from '../errors/encrypted-keys.ts';
import type { ListRoom } from '../http/list-room.ts';
import type { Page } from '../http/pagination.ts';
import type { StoredThread } from './stored-thread.ts';
import { columnsOf } from './thread-columns.ts';
import { type ThreadFilters, whereVisible } from './thread-conditions.ts';
import { countThreadRows, searchThreadRows, type ThreadSearch } from './thread-search.ts';
import { searchValues, VALUES_SEARCH_MS } from './values-search.ts';

/** Reads threads and changes their metadata. Only the run engine changes their status. */
export class ThreadStore {
  readonly #prisma: PrismaClient;
  readonly #cipher: DataCipher;
  readonly #room: ListRoom;

  constructor(prisma: PrismaClient, cipher: DataCipher, room: ListRoom) {
    this.#prisma = prisma;
    this.#cipher = cipher;
    this.#room = room;
  }

  /** @throws EncryptionError when its state cannot be decrypted */
  async find(scope: Scope, threadId: string): Promise<StoredThread | undefined> {
    const rows = await this.#prisma.$queryRaw<StoredThread[]>(withState(scope, threadId));
    return rows[0] && this.#decrypt(rows[0]);
  }

  /** Finds a thread as a transaction of the run engine sees it. @throws EncryptionError */
  async findInTransaction(client: pg.ClientBase, scope: Scope, threadId: string): Promise<StoredThread | undefined> {
    const { text, values } = withState(scope, threadId);
    const { rows } = await client.query<StoredThread>(text, values);
    return rows[0] && this.#decrypt(rows[0]);
  }

  /** Returns the thread without its values. @throws EncryptionError when its interrupts cannot be decrypted */
  async findWithInterrupts(scope: Scope, threadId: string): Promise<StoredThread | undefined> {
    const rows = await this.#prisma.$queryRaw<StoredThread[]>`
      SELECT ${columnsOf(false)}, s.interrupts FROM thread t LEFT JOIN thread_state s USING (thread_id)
      WHERE t.thread_id = ${threadId}::uuid AND ${whereVisible(scope)}`;
    return rows[0] && this.#decrypt(rows[0]);
  }

  /** Returns the bytes at rest of a thread's state; 0 where it has none. */
  async stateBytesOf(threadId: string): Promise<number> {
    const [row] = await this.#prisma.$queryRaw<{ bytes: number }[]>`
      SELECT (coalesce(octet_length("values"), 0) + coalesce(octet_length(interrupts), 0))::float8 AS bytes
      FROM thread_state WHERE thread_id = ${threadId}::uuid`;
    return row?.bytes ?? 0;
  }

  /** Returns the thread without its state; `{"__error__": …}` stands for metadata that cannot be decrypted. */
  async findWithoutState(scope: Scope, threadId: string): Promise<StoredThread | undefined> {
    const rows = await this.#prisma.$queryRaw<StoredThread[]>`
      SELECT ${columnsOf(false)} FROM thread t WHERE t.thread_id = ${threadId}::uuid AND ${whereVisible(scope)}`;
    return rows[0] && decryptThreadRow(rows[0], this.#cipher.json.decryptListed);
  }

  /**
   * Returns whether the caller may see a run: by its thread, or by its own metadata where its thread is not kept, whoever
   * has made a thread with the same id.
   */
  async isRunVisible(scope: Scope, runId: string): Promise<boolean> {
    const metadata = Prisma.raw('(CASE WHEN r.keeps_thread THEN t.metadata ELSE r.metadata END)');
    const rows = await this.#prisma.$queryRaw<unknown[]>`
      SELECT 1 AS shown FROM run r LEFT JOIN thread t ON t.thread_id = r.thread_id
      WHERE r.run_id = ${runId}::uuid AND ${whereInScope(scope, metadata)}`;
    return rows.length > 0;
  }

  /**
   * Returns whether the caller may see a stateless run; undefined for one of a thread, and for one that is not kept any
   * more.
   */
  async isStatelessRunVisible(scope: Scope, runId: string): Promise<boolean | undefined> {
    const rows = await this.#prisma.$queryRaw<{ isVisible: boolean }[]>`
      SELECT ${whereInScope(scope, Prisma.raw('r.metadata'))} AS "isVisible"
      FROM run r WHERE r.run_id = ${runId}::uuid AND NOT r.keeps_thread`;
    return rows[0]?.isVisible;
  }

  /** Returns which of these threads the caller may see. */
  async filterVisible(scope: Scope, threadIds: string[]): Promise<string[]> {
    const rows = await this.#prisma.$queryRaw<{ threadId: string }[]>`
      SELECT t.thread_id AS "threadId" FROM thread t WHERE t.thread_id = ANY(${threadIds}::uuid[]) AND ${whereVisible(scope)}`;
    return rows.map(({ threadId }) => threadId);
  }

  /**
   * Returns the bytes at rest of what these runs were sent and have brought forth, by run. The values of a run are kept
   * for a while; after that, and while it is in flight, those of its thread count.
   */
  async contentBytesOf(runIds: string[]): Promise<Map<string, number>> {
    const rows = await this.#prisma.$queryRaw<{ runId: string; bytes: number }[]>`
      SELECT r.run_id AS "runId",
             (octet_length(r.kwargs) + coalesce(octet_length(r.result), octet_length(s."values"), 0))::float8 AS bytes
      FROM run r LEFT JOIN thread_state s ON s.thread_id = r.thread_id WHERE r.run_id = ANY(${runIds}::uuid[])`;
    return new Map(rows.map(({ runId, bytes }) => [runId, bytes]));
  }

  /**
   * Merges metadata key by key; a null stays as null. A new ttl counts from now. Returns false when there is no such
   * thread, or the change would take it out of the scope. @throws EncryptionUnavailableError
   */
  async change(scope: Scope, threadId: string, { metadata, ttl }: ThreadChange): Promise<boolean> {
    const expiry = ttl
      ? Prisma.sql`, ttl_strategy = ${ttl.strategy}, ttl_minutes = ${ttl.minutes}::float8,
                   expires_at = now() + make_interval(secs => ${ttl.minutes}::float8 * 60)`
      : Prisma.empty;
    const added = toSqlJson(await this.#cipher.json.encrypt(metadata, JSON_PLACES.threadMetadata));
    const changed = await this.#prisma.$executeRaw`
      UPDATE thread t SET metadata = t.metadata || ${added}::jsonb, updated_at = now() ${expiry}
      WHERE t.thread_id = ${threadId}::uuid AND ${whereVisible(scope)}
        AND ${whereInScope(scope, Prisma.sql`(t.metadata || ${added}::jsonb)`)}`;
    return changed > 0;
  }

  /**
   * Returns a page of threads, which has room until the signal; one whose state is undecryptable has a `fault`. @throws
   * UnprocessableError for a filter on values or metadata that are encrypted, or on too many values
   */
  async search(scope: Scope, search: Omit<ThreadSearch, 'maxBytes'>, until: AbortSignal): Promise<Page<StoredThread>> {
    const page = await this.#room.readPage(until, (maxBytes) =>
      this.#within(search, (db) => searchThreadRows(db, scope, { ...search, maxBytes })),
    );
    return { ...page, rows: page.rows.map((row) => this.#decryptListed(row)) };
  }

  /** @throws UnprocessableError for a filter on values or metadata that are encrypted, or on too many values */
  async count(scope: Scope, filters: ThreadFilters): Promise<number> {
    return this.#within(filters, (db) => countThreadRows(db, scope, filters));
  }

  async #within<T>(filters: ThreadFilters, search: (db: Prisma.TransactionClient) => Promise<T>): Promise<T> {
    await requireSearchable(this.#cipher, filters, JSON_PLACES.threadMetadata);
    const { values } = filters;
    if (!values || Object.keys(values).length === 0) return search(this.#prisma);
    if (this.#cipher.isEncrypting) {
      throw new UnprocessableError('values: the state of threads is encrypted at rest and cannot be searched by');
    }
    return searchValues(this.#prisma, VALUES_SEARCH_MS, search);
  }

  /** Decrypts a listed row; an undecryptable thread does not hide the others. */
  #decryptListed(row: StoredThread): StoredThread {
    try {
      return this.#decrypt(row);
    } catch (fault) {
      if (!(fault instanceof EncryptionError)) throw fault;
      const shown = decryptThreadRow(row, this.#cipher.json.decryptListed);
      return { ...shown, values: null, interrupts: null, fault };
    }
  }

  #decrypt(row: StoredThread): StoredThread {
    return {
      ...decryptThreadRow(row, this.#cipher.json.decrypt),
      ...(row.values && { values: this.#cipher.decrypt(row.values) }),
      ...(row.interrupts && { interrupts: this.#cipher.decrypt(row.interrupts) }),
    };
  }
}

function decryptThreadRow(
  row: StoredThread,
  decrypt: (json: Record<string, unknown>) => Record<string, unknown>,
): StoredThread {
  return { ...row, metadata: decrypt(row.metadata), config: decrypt(row.config) };
}

function withState(scope: Scope, threadId: string): Prisma.Sql {
  return Prisma.sql`SELECT ${columnsOf(true)} FROM thread t LEFT JOIN thread_state s USING (thread_id)
                    WHERE t.thread_id = ${threadId}::uuid AND ${whereVisible(scope)}`;
}

export interface ThreadChange {
  metadata: object;
  ttl?: ThreadTtl | undefined;
}
