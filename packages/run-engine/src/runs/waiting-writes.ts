import { GroupCommitter } from '@runyard/database';
import { ThreadHeldError } from '../errors.ts';

/** Number of threads that are waited for at once, each on its own connection. */
const LANES = 2;

export interface WaitingWritesOptions<Item, Result> {
  /** Appears in messages and metrics. */
  name: string;
  threadIdOf(item: Item): string;
  /** Milliseconds that items wait for a thread that stays locked; a request may wait as long. */
  waitMs: number;
  /** Writes one item; waits at most `lockTimeoutMs` for its thread. */
  write(item: Item, lockTimeoutMs: number): Promise<Result | Error>;
}

interface Waiting {
  writes: number;
  /** The last time at which the thread was free, or the first write began to wait; monotonic. */
  since: number;
}

/**
 * Writes to threads that another transaction holds. Each has its own transaction that waits for the thread; those of
 * one thread run one after another. Nothing else waits with them. When the thread stays locked for too long, they fail
 * with `ThreadHeldError`, or with Postgres' error for a lock that is not available.
 */
export class WaitingWrites<Item, Result> {
  readonly #options: WaitingWritesOptions<Item, Result>;
  readonly #committer: GroupCommitter<Item, Result>;
  /** State of each thread, by thread id. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: WaitingWritesOptions<Item, Result>) {
    this.#options = options;
    this.#committer = new GroupCommitter({
      name: options.name,
      maxItems: 1,
      maxConcurrentFlushes: LANES,
      keyOf: (item) => options.threadIdOf(item),
      flush: async ([item]) => [await this.#write(item!)],
    });
  }

  /** Returns whether a write waits for the thread already: later ones have to come after it. */
  has(threadId: string): boolean {
    return this.#waiting.has(threadId);
  }

  async submit(item: Item): Promise<Result> {
    const threadId = this.#options.threadIdOf(item);
    const waiting = this.#waiting.get(threadId) ?? { writes: 0, since: performance.now() };
    this.#waiting.set(threadId, waiting);
    waiting.writes += 1;
    try {
      return await this.#committer.submit(item);
    } finally {
      waiting.writes -= 1;
      if (waiting.writes === 0) this.#waiting.delete(threadId);
    }
  }

  close(): Promise<void> {
    return this.#committer.close();
  }

  async #write(item: Item): Promise<Result | Error> {
    const { write, threadIdOf, waitMs } = this.#options;
    const threadId = threadIdOf(item);
    const waiting = this.#waiting.get(threadId)!;
    const leftMs = waiting.since + waitMs - performance.now();
    if (leftMs <= 0) return new ThreadHeldError(threadId);
    const result = await write(item, leftMs);
    waiting.since = performance.now();
    return result;
  }
}
