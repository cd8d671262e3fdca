import type pg from 'pg';
import type { RunEvents } from '../run-events.ts';
import type { KeyedThread } from '../types.ts';
import { copyThread } from './copy-thread.ts';
import { expireThreads, findExpiredThreads } from './expire-threads.ts';
import { pruneThreads } from './prune-threads.ts';
import { type OrphanSlice, removeOrphans } from './remove-orphans.ts';
import { threadStorage } from './thread-storage.ts';
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
  /** Of copies of threads that have none of their own. */
  threadTtl: ThreadTtl | undefined;
  /** A transaction of the engine: repeated at deadlocks, and the outbox relay is told. */
  write<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T>;
}

/** Threads that are pruned together, in transactions that are short. */
const BATCH = 50;

/** What threads keep of their past: copied, measured, pruned by order or when its time is over, and cleared of leftovers. */
export class ThreadHistories {
  readonly #options: ThreadHistoriesOptions;

  constructor(options: ThreadHistoriesOptions) {
    this.#options = options;
  }

  /** Undefined when the source does not exist. Throws KeyTakenError. */
  copy(copy: CopyThread, keyed?: KeyedThread): Promise<CopiedThread | undefined> {
    const { write, threadTtl } = this.#options;
    return write((client) => underKey(client, keyed, () => copyThread(client, copy, threadTtl)));
  }

  /** Undefined when there is no such thread. */
  storage(threadId: string): Promise<ThreadStorage | undefined> {
    return threadStorage(this.#options.pool, threadId);
  }

  /** Answers the threads that were pruned: those that exist and have no run in flight. */
  prune(threadIds: string[], strategy: PruneStrategy): Promise<PrunedThreads> {
    const { events } = this.#options;
    return this.#inBatches([...new Set(threadIds)], (client, batch) => pruneThreads(client, batch, strategy, events));
  }

  /** Does what the ttl of threads past their time says, to at most that many; never to one with a run in flight. */
  async expire(limit: number): Promise<PrunedThreads> {
    const { pool, events } = this.#options;
    const expired = await findExpiredThreads(pool, limit);
    return this.#inBatches(expired, (client, batch) => expireThreads(client, batch, events));
  }

  /** Looks through a slice of the tables for rows whose thread is gone. Go on with the slice it answers; it starts anew at the end. */
  removeOrphans(slice: OrphanSlice): Promise<OrphanSlice> {
    return removeOrphans(this.#options.pool, slice);
  }

  async #inBatches(
    threadIds: string[],
    work: (client: pg.PoolClient, batch: string[]) => Promise<PrunedPart>,
  ): Promise<PrunedThreads> {
    const all: PrunedThreads = { deleted: [], prunedIds: [] };
    for (let start = 0; start < threadIds.length; start += BATCH) {
      for (let batch = threadIds.slice(start, start + BATCH); batch.length > 0; ) {
        const { deleted, prunedIds, leftIds } = await this.#options.write((client) => work(client, batch));
        all.deleted.push(...deleted);
        all.prunedIds.push(...prunedIds);
        batch = leftIds;
      }
    }
    return all;
  }
}
