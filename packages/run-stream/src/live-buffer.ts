import type { LiveBatch } from './entry-codec.ts';
import type { ReadBudget } from './read-budget.ts';

export interface ReaderLimits {
  /** Live batches that wait for this reader. */
  bufferBytes: number;
  /** Shared with all readers of the process. */
  budget: ReadBudget;
}

/** The live batches that wait for one reader. Those that do not fit are not kept: they are in the stream. */
export class LiveBuffer {
  readonly #limits: ReaderLimits;
  #batches: LiveBatch[] = [];
  #bytes = 0;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /** Memory taken, about. */
  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** False when there is no room: then nothing is kept, since what waits would not join up with what comes. */
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

  /** Takes the oldest one; undefined when none waits. */
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

  /** A batch that alone is larger than the buffer still counts as one, or a reader could never go on live. */
  #hasRoomFor({ bytes }: LiveBatch): boolean {
    if (this.isEmpty) return true;
    return this.#bytes + bytes <= this.#limits.bufferBytes && this.#limits.budget.hasRoomFor(bytes);
  }
}
