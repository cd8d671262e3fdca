import { type Batch, CommitQueue, type Queued } from './commit-queue.ts';
import { isTimeoutOrOutOfMemory, isUnavailable, mayBeFaultOfOneItem } from './sql-errors.ts';

export interface GroupCommitterOptions<Item, Result> {
  /** Appears in messages and metrics. */
  name: string;
  /**
   * Writes the items in one transaction or one statement, all or nothing. Returns one result per item in the same
   * order; an `Error` in an item's place rejects that item alone. It repeats by itself what another try may bring to its
   * end, such as a deadlock (`attempts` of `withTransaction`, `repeatDeadlocks`).
   */
  flush(items: Item[]): Promise<(Result | Error)[]>;
  /** Maximum number of items per flush. Default 256. */
  maxItems?: number;
  /** Maximum bytes per flush, by `sizeOf`. A larger item is written alone. Default 1 MiB. */
  maxBytes?: number;
  sizeOf?(item: Item): number;
  /**
   * Items with the same key keep their order and are never in two flushes at once. Without it, items are independent.
   */
  keyOf?(item: Item): string | undefined;
  /**
   * Maximum number of items with one key per flush; 1 for statements that must not see a key twice. Default: no limit.
   */
  maxItemsPerKey?: number;
  /**
   * `alone`: a refused item does not affect others of its key. `restOfKey`: items submitted after it under the same key
   * that are not committed are refused too, so that a key's commits are a prefix of its submissions. Default `alone`.
   */
  onItemFailure?: 'alone' | 'restOfKey';
  /** Maximum number of concurrent flushes; each takes a connection. Default 1. */
  maxConcurrentFlushes?: number;
  /** Limits of waiting items, beyond which `submit` refuses. Default 10,000 items, 64 MiB. */
  maxWaitingItems?: number;
  maxWaitingBytes?: number;
  /** Is called after every flush. */
  onFlush?(report: FlushReport): void;
}

export interface FlushReport {
  items: number;
  bytes: number;
  durationMs: number;
  outcome: 'committed' | 'split' | 'failed';
}

/** The committer has no room, or is closing. Nothing was written. */
export class CommitRefusedError extends Error {
  readonly reason: 'full' | 'closed';
  constructor(name: string, reason: 'full' | 'closed') {
    super(reason === 'full' ? `${name}: too much waits to be written.` : `${name} is closed.`);
    this.name = 'CommitRefusedError';
    this.reason = reason;
  }
}

/**
 * Writes items that many callers submit at about the same time in common transactions. A flush takes everything that
 * arrived during the last one, so a single item is written at once and many share commits; there is no timer.
 *
 * One caller's item cannot fail another's. When Postgres refuses the data of a flush (SQLSTATE classes 21, 22, 23),
 * does not finish it in time, or does not get a lock for it, the flush is split in halves and retried until the faulty
 * item stands alone. Any other error, such as a lost connection, fails every item of that flush: nobody knows whether
 * it took effect. When the database is unavailable, it also fails the items that have waited since
 * before that flush, so that no item waits for more than two flushes.
 */
export class GroupCommitter<Item, Result = void> {
  readonly #options: GroupCommitterOptions<Item, Result>;
  readonly #limits: { maxItems: number; maxBytes: number; maxItemsPerKey: number };
  readonly #queue = new CommitQueue<Item, Result>();
  #flushesInFlight = 0;
  #isScheduled = false;
  #isClosed = false;
  #idle: (() => void)[] = [];
  #room: (() => void)[] = [];

  constructor(options: GroupCommitterOptions<Item, Result>) {
    this.#options = options;
    this.#limits = {
      maxItems: options.maxItems ?? 256,
      maxBytes: options.maxBytes ?? 1024 * 1024,
      maxItemsPerKey: options.maxItemsPerKey ?? Number.POSITIVE_INFINITY,
    };
  }

  /** Resolves once the item is committed. Throws `CommitRefusedError` when too much waits already. */
  submit(item: Item): Promise<Result> {
    const { name, sizeOf, keyOf } = this.#options;
    if (this.#isClosed) return Promise.reject(new CommitRefusedError(name, 'closed'));
    if (!this.hasRoom) return Promise.reject(new CommitRefusedError(name, 'full'));
    return new Promise<Result>((resolve, reject) => {
      this.#queue.add(
        { item, bytes: sizeOf?.(item) ?? 0, queuedAt: performance.now(), resolve, reject },
        keyOf?.(item),
      );
      this.#schedule();
    });
  }

  get hasRoom(): boolean {
    const { maxWaitingItems = 10_000, maxWaitingBytes = 64 * 1024 * 1024 } = this.#options;
    return this.#queue.items < maxWaitingItems && this.#queue.bytes < maxWaitingBytes;
  }

  /** Number of items that wait for a flush. */
  get waiting(): number {
    return this.#queue.items;
  }

  /** Resolves when `submit` would accept an item, for producers that can pause instead of failing. */
  async waitForRoom(): Promise<void> {
    while (!this.hasRoom) await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  /** Accepts no more items, and resolves when all submitted ones are settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#flushesInFlight > 0 || this.#queue.items > 0)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** Waits for the end of this turn of the event loop: items from other sockets in the same turn join the flush. */
  #schedule(): void {
    if (this.#isScheduled || this.#flushesInFlight >= (this.#options.maxConcurrentFlushes ?? 1)) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  #start(): void {
    if (this.#flushesInFlight >= (this.#options.maxConcurrentFlushes ?? 1) || !this.#queue.hasReady) return;
    const batch = this.#queue.take(this.#limits);
    this.#flushesInFlight += 1;
    void this.#write(batch).then(() => {
      this.#flushesInFlight -= 1;
      this.#queue.release(batch);
      if (this.#queue.hasReady) this.#schedule();
      this.#wake();
    });
    // Another lane may take the items that did not fit.
    if (this.#queue.hasReady) this.#schedule();
  }

  #wake(): void {
    if (this.hasRoom) for (const resolve of this.#room.splice(0)) resolve();
    if (this.#flushesInFlight === 0 && this.#queue.items === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #write(batch: Batch<Item, Result>): Promise<void> {
    /** Keys of failed items, with their errors: later items of these keys must not be written. */
    const failedKeys = new Map<string, unknown>();
    await this.#writePart(batch.items, failedKeys);
  }

  async #writePart(all: Queued<Item, Result>[], failedKeys: Map<string, unknown>): Promise<void> {
    const part = this.#withoutFailedKeys(all, failedKeys);
    if (part.length === 0) return;
    const startedAt = performance.now();
    const report = (outcome: FlushReport['outcome']) =>
      this.#options.onFlush?.({
        items: part.length,
        bytes: part.reduce((sum, { bytes }) => sum + bytes, 0),
        durationMs: performance.now() - startedAt,
        outcome,
      });
    try {
      const results = await this.#flush(part.map(({ item }) => item));
      report('committed');
      for (const [index, queued] of part.entries()) {
        const result = results[index] as Result | Error;
        if (result instanceof Error) this.#fail(queued, result, failedKeys);
        else queued.resolve(result);
      }
    } catch (error) {
      if (part.length > 1 && mayBeFaultOfOneItem(error)) {
        report('split');
        const middle = part.length >> 1;
        await this.#writePart(part.slice(0, middle), failedKeys);
        await this.#writePart(part.slice(middle), failedKeys);
        return;
      }
      report('failed');
      for (const queued of part) this.#fail(queued, error, failedKeys);
      if (isUnavailable(error) && !isTimeoutOrOutOfMemory(error))
        for (const waiting of this.#queue.dropWaitingSince(startedAt)) waiting.reject(error);
    }
  }

  async #flush(items: Item[]): Promise<(Result | Error)[]> {
    const results = await this.#options.flush(items);
    if (results.length === items.length) return results;
    throw new Error(`${this.#options.name}: ${results.length} results for ${items.length} items.`);
  }

  #withoutFailedKeys(part: Queued<Item, Result>[], failedKeys: Map<string, unknown>): Queued<Item, Result>[] {
    if (failedKeys.size === 0) return part;
    return part.filter((queued) => {
      const key = this.#options.keyOf?.(queued.item);
      if (key === undefined || !failedKeys.has(key)) return true;
      queued.reject(failedKeys.get(key));
      return false;
    });
  }

  #fail(queued: Queued<Item, Result>, error: unknown, failedKeys: Map<string, unknown>): void {
    queued.reject(error);
    if (this.#options.onItemFailure !== 'restOfKey') return;
    const key = this.#options.keyOf?.(queued.item);
    if (key === undefined) return;
    failedKeys.set(key, error);
    for (const waiting of this.#queue.drop(key)) waiting.reject(error);
  }
}
