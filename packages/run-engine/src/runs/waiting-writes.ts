import { GroupCommitter } from '@runyard/database';
import { ThreadHeldError } from '../errors.ts';

/** Threads that are waited for at once, each on a connection. */
const LANES = 2;

export interface WaitingWritesOptions<Item, Result> {
  /** For messages and metrics. */
  name: string;
  threadIdOf(item: Item): string;
  /** How long they wait for a thread that does not become free; a request may wait as long. */
  waitMs: number;
  /** Writes one item; waits so long for its thread at most. */
  write(item: Item, lockTimeoutMs: number): Promise<Result | Error>;
}

interface Waiting {
  writes: number;
  /** When the thread was free for the last time, or the first write began to wait; monotonic. */
  since: number;
}

/**
 * Writes whose thread somebody else holds. Each has a transaction of its own that waits for the thread, those of one thread one
 * after another: nobody else waits with them. When the thread was not free for long enough, they fail with `ThreadHeldError`, or with
 * that Postgres gave them no lock.
 */
export class WaitingWrites<Item, Result> {
  readonly #options: WaitingWritesOptions<Item, Result>;
  readonly #committer: GroupCommitter<Item, Result>;
  /** By thread. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(options: WaitingWritesOptions<Item, Result>) {
    this.#options = options;
    this.#committer = new GroupCommitter({
      name: options.name,
      maxItems: 1,
      lanes: LANES,
      keyOf: (item) => options.threadIdOf(item),
      flush: async ([item]) => [await this.#write(item!)],
    });
  }

  /** Something waits for the thread already: what comes now comes after it. */
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
