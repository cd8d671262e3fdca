/** A submitted item, with the functions that answer its submitter. */
export interface Queued<Item, Result> {
  item: Item;
  bytes: number;
  /** Monotonic milliseconds. */
  queuedAt: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** The waiting items of one key in the order they came. Each item without a key has its own chain. */
export interface Chain<Item, Result> {
  key: string | undefined;
  waiting: Queued<Item, Result>[];
}

export interface Batch<Item, Result> {
  items: Queued<Item, Result>[];
  bytes: number;
  chains: Set<Chain<Item, Result>>;
}

/**
 * The waiting items of a group committer. A chain with items in a batch in flight is withheld from further batches
 * until the batch is given back. The items of one key are thus never in two batches at once, and keep their order.
 */
export class CommitQueue<Item, Result> {
  readonly #chains = new Map<string, Chain<Item, Result>>();
  /** Chains with waiting items and none in flight, oldest first. A Set keeps the order and deletes cheaply. */
  readonly #ready = new Set<Chain<Item, Result>>();
  readonly #inFlight = new Set<Chain<Item, Result>>();
  #items = 0;
  #bytes = 0;

  /** Number of waiting items, without those in flight. */
  get items(): number {
    return this.#items;
  }
  get bytes(): number {
    return this.#bytes;
  }
  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  add(queued: Queued<Item, Result>, key: string | undefined): void {
    const chain = this.#chainOf(key);
    chain.waiting.push(queued);
    this.#items += 1;
    this.#bytes += queued.bytes;
    if (!this.#inFlight.has(chain)) this.#ready.add(chain);
  }

  /** Takes the next batch within the limits. An item above `maxBytes` makes a batch by itself. */
  take(limits: { maxItems: number; maxBytes: number; maxItemsPerKey: number }): Batch<Item, Result> {
    const batch: Batch<Item, Result> = { items: [], bytes: 0, chains: new Set() };
    for (const chain of this.#ready) {
      const taken = this.#takeFrom(chain, batch, limits);
      if (taken > 0) {
        this.#ready.delete(chain);
        this.#inFlight.add(chain);
        batch.chains.add(chain);
      }
      if (taken === 0 || batch.items.length >= limits.maxItems || batch.bytes >= limits.maxBytes) break;
    }
    return batch;
  }

  /** Ends a batch: its keys may be in a batch again. */
  release(batch: Batch<Item, Result>): void {
    for (const chain of batch.chains) {
      this.#inFlight.delete(chain);
      if (chain.waiting.length > 0) this.#ready.add(chain);
      else if (chain.key !== undefined) this.#chains.delete(chain.key);
    }
  }

  /** Removes everything that has waited since this time or longer, even when its key is in flight. */
  dropWaitingSince(time: number): Queued<Item, Result>[] {
    const dropped: Queued<Item, Result>[] = [];
    for (const chain of [...this.#chains.values(), ...this.#ready]) {
      const isOld = ({ queuedAt }: Queued<Item, Result>) => queuedAt <= time;
      const old = chain.waiting.filter(isOld);
      if (old.length === 0) continue;
      dropped.push(...old);
      chain.waiting = chain.waiting.filter((queued) => !isOld(queued));
      this.#bytes -= old.reduce((sum, { bytes }) => sum + bytes, 0);
      this.#items -= old.length;
      if (chain.waiting.length > 0) continue;
      this.#ready.delete(chain);
      if (!this.#inFlight.has(chain) && chain.key !== undefined) this.#chains.delete(chain.key);
    }
    return dropped;
  }

  /** Removes everything that waits under the key. */
  drop(key: string): Queued<Item, Result>[] {
    const chain = this.#chains.get(key);
    if (!chain) return [];
    const dropped = chain.waiting.splice(0);
    for (const { bytes } of dropped) this.#bytes -= bytes;
    this.#items -= dropped.length;
    this.#ready.delete(chain);
    if (!this.#inFlight.has(chain)) this.#chains.delete(key);
    return dropped;
  }

  #chainOf(key: string | undefined): Chain<Item, Result> {
    if (key === undefined) return { key, waiting: [] };
    let chain = this.#chains.get(key);
    if (!chain) {
      chain = { key, waiting: [] };
      this.#chains.set(key, chain);
    }
    return chain;
  }

  /** Moves as many items as fit from the front of the chain into the batch. */
  #takeFrom(
    chain: Chain<Item, Result>,
    batch: Batch<Item, Result>,
    limits: { maxItems: number; maxBytes: number; maxItemsPerKey: number },
  ): number {
    let taken = 0;
    for (const { bytes } of chain.waiting) {
      if (taken >= limits.maxItemsPerKey || batch.items.length + taken >= limits.maxItems) break;
      const isFirst = batch.items.length + taken === 0;
      if (!isFirst && batch.bytes + bytes > limits.maxBytes) break;
      batch.bytes += bytes;
      this.#bytes -= bytes;
      taken += 1;
    }
    batch.items.push(...chain.waiting.splice(0, taken));
    this.#items -= taken;
    return taken;
  }
}
