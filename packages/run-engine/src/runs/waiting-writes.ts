import { GroupCommitter } from '@runyard/database';
import { ThreadHeldError } from '../errors.ts';

/** Threads that are waited for at once, each on a connection. */
const LANES = 2;

export interface WaitingWritesOptions<Item, Result> {
  /** For messages and metrics. */
  name: string;
  threadIdOf(item: Item): string;
  /** How long each waits for its thread; a request may wait as long. */
  waitMs: number;
  /** Writes one item; waits so long for its thread at most. */
  write(item: Item, lockTimeoutMs: number): Promise<Result | Error>;
}

/**
 * Writes whose thread somebody else holds. Each has a transaction of its own that waits for the thread, those of one thread one
 * after another: nobody else waits with them. One that has waited long enough fails with `ThreadHeldError`, or with that Postgres
 * gave it no lock.
 */
export class WaitingWrites<Item, Result> {
  readonly #options: WaitingWritesOptions<Item, Result>;
  readonly #committer: GroupCommitter<{ item: Item; until: number }, Result>;
  /** How many writes wait for each thread. */
  readonly #waiting = new Map<string, number>();

  constructor(options: WaitingWritesOptions<Item, Result>) {
    this.#options = options;
    this.#committer = new GroupCommitter({
      name: options.name,
      maxItems: 1,
      lanes: LANES,
      keyOf: ({ item }) => options.threadIdOf(item),
      flush: async ([waiting]) => [await this.#write(waiting!)],
    });
  }

  /** Something waits for the thread already: what comes now comes after it. */
  has(threadId: string): boolean {
    return this.#waiting.has(threadId);
  }

  async submit(item: Item): Promise<Result> {
    const threadId = this.#options.threadIdOf(item);
    this.#waiting.set(threadId, (this.#waiting.get(threadId) ?? 0) + 1);
    try {
      return await this.#committer.submit({ item, until: performance.now() + this.#options.waitMs });
    } finally {
      const left = this.#waiting.get(threadId)! - 1;
      if (left > 0) this.#waiting.set(threadId, left);
      else this.#waiting.delete(threadId);
    }
  }

  close(): Promise<void> {
    return this.#committer.close();
  }

  async #write({ item, until }: { item: Item; until: number }): Promise<Result | Error> {
    const { write, threadIdOf } = this.#options;
    const leftMs = until - performance.now();
    return leftMs > 0 ? write(item, leftMs) : new ThreadHeldError(threadIdOf(item));
  }
}
