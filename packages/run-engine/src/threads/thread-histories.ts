import { type DataCipher, JSON_PLACES } from '@runyard/encryption';
import type pg from 'pg';
import type { RunEvents } from '../run-events.ts';
import type { KeyedThread } from '../types.ts';
import { copyThread } from './copy-thread.ts';
import { expireThreads, findExpiredThreads, readExpiryDelay } from './expire-threads.ts';
import { pruneThreads } from './prune-threads.ts';
import { type OrphanSlice, removeOrphanRows } from './remove-orphans.ts';
import { measureThreadStorage } from './thread-storage.ts';
import type {
  CopiedThread,
  CopyThread,
  PrunedPart,
  PrunedThreads,
  PruneStrategy,
  ThreadStorage,
  ThreadTtl,
} from './types.ts';
import { underKey } from './under-key.ts';

export interface ThreadHistoriesOptions {
  pool: pg.Pool;
  events: RunEvents;
  /** The ttl of copies of threads that have none. */
  threadTtl: ThreadTtl | undefined;
  /** Runs a transaction of the engine: it is repeated at deadlocks, and the outbox relay is notified. */
  write<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
  cipher: DataCipher;
}

/** Number of threads that are pruned in one transaction, to keep it short. */
const BATCH = 50;

/**
 * Manages the stored history of threads: copies, measures, prunes (on request or when it has expired) and removes
 * orphans.
 */
export class ThreadHistories {
  readonly #options: ThreadHistoriesOptions;

  constructor(options: ThreadHistoriesOptions) {
    this.#options = options;
  }

  /** Undefined when the source does not exist. Throws KeyTakenError, EncryptionUnavailableError. */
  async copy(copy: CopyThread, keyed?: KeyedThread): Promise<CopiedThread | undefined> {
    const { write, threadTtl, cipher } = this.#options;
    const stored = { ...copy, metadata: await cipher.json.encrypt(copy.metadata, JSON_PLACES.threadMetadata) };
    return write((client) => underKey(client, keyed, () => copyThread(client, stored, threadTtl)));
  }

  /** Undefined when there is no such thread. */
  measureStorage(threadId: string): Promise<ThreadStorage | undefined> {
    return measureThreadStorage(this.#options.pool, threadId);
  }

  /** Returns the threads that were pruned: those that exist and have no run in flight. */
  prune(threadIds: string[], strategy: PruneStrategy): Promise<PrunedThreads> {
    const { events } = this.#options;
    return this.#inBatches([...new Set(threadIds)], (client, batch) => pruneThreads(client, batch, strategy, events));
  }

  /**
   * Applies the ttl of expired threads, to at most `limit` of them; never to one with a run in flight. `mayHaveMore`
   * says that there were as many, and that it got on with them.
   */
  async expire(limit: number): Promise<PrunedThreads & { mayHaveMore: boolean }> {
    const { pool, events } = this.#options;
    const expired = await findExpiredThreads(pool, limit);
    const done = await this.#inBatches(expired, (client, batch) => expireThreads(client, batch, events));
    return { ...done, mayHaveMore: expired.length === limit && done.deleted.length + done.prunedIds.length > 0 };
  }

  /** Returns for how many seconds the longest expired thread has been; 0 when none is. */
  secondsBehind(): Promise<number> {
    return readExpiryDelay(this.#options.pool);
  }

  /**
   * Removes rows of deleted threads from one slice of the tables. The caller continues with the returned slice; the
   * walk restarts at the end.
   */
  removeOrphans(slice: OrphanSlice): Promise<OrphanSlice> {
    return removeOrphanRows(this.#options.pool, slice);
  }

  async #inBatches(
    threadIds: string[],
    work: (client: pg.PoolClient, batch: string[]) => Promise<PrunedPart>,
  ): Promise<PrunedThreads> {
    const all: PrunedThreads = { deleted: [], prunedIds: [] };
    for (let start = 0; start < threadIds.length; start += BATCH) {
      for (let batch = threadIds.slice(start, start + BATCH); batch.length > 0; ) {
        const { deleted, prunedIds, remainingIds } = await this.#options.write((client) => work(client, batch));
        all.deleted.push(...deleted);
        all.prunedIds.push(...prunedIds);
        batch = remainingIds;
      }
    }
    return all;
  }
}
