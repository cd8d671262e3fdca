import type { LiveBatch } from './entry-codec.ts';
import type { ReadBudget } from './read-budget.ts';

export interface ReaderLimits {
  /** Bytes of live batches that wait for this reader. */
  bufferBytes: number;
  /** The budget that all readers of the process share. */
  budget: ReadBudget;
}

/** The live batches that wait for one reader. Batches that do not fit are dropped: they are in the stream. */
export class LiveBuffer {
  readonly #limits: ReaderLimits;
  #batches: LiveBatch[] = [];
  #bytes = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /** Approximate size in memory. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /**
   * Adds a batch. Returns false without room: then nothing is kept, because the waiting batches would not continue with
   * later ones.
   */
  push(batch: LiveBatch): boolean {
    if (!this.#hasRoomFor(batch)) {
      this.clear();
      return false;
    }
    this.#batches.push(batch);
    this.#bytes += batch.bytes;
    this.#limits.budget.take(batch.bytes);
    return true;
  }

  /** Removes and returns the oldest batch; undefined when none waits. */
  shift(): LiveBatch | undefined {
    const batch = this.#batches.shift();
    if (!batch) return undefined;
    this.#bytes -= batch.bytes;
    this.#limits.budget.giveBack(batch.bytes);
    return batch;
  }

  clear(): void {
    this.#limits.budget.giveBack(this.#bytes);
    this.#batches = [];
    this.#bytes = 0;
  }

  /**
   * Returns whether there is room. A single batch always fits, even when it is larger than the buffer: otherwise a
   * reader could never go on live.
   */
  #hasRoomFor({ bytes }: LiveBatch): boolean {
    if (this.isEmpty) return true;
    return this.#bytes + bytes <= this.#limits.bufferBytes && this.#limits.budget.hasRoomFor(bytes);
  }
}
