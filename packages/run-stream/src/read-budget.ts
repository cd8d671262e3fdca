import { ByteBudget } from '@runyard/service-kit';

const PAGE_BYTES_MAX = 256 * 1024;
const PAGE_BYTES_MIN = 16 * 1024;
/**
 * Maximum number of pages that are requested at a time: the load of the single connection does not grow with the number
 * of readers.
 */
const READS_AT_ONCE = 16;

/**
 * The memory of all readers of a process while their clients receive it: live batches and pages of the stream. When it
 * is used up, live batches are dropped (they are in the stream) and pages become small, so that any number of slow
 * readers goes on in limited memory.
 */
export class ReadBudget extends ByteBudget {
  #reading = 0;
  readonly #readers: (() => void)[] = [];

  /** Size of the next page: a small part of the free budget. */
  get pageBytes(): number {
    const left = this.maxBytes - this.heldBytes;
    return Math.min(PAGE_BYTES_MAX, Math.max(PAGE_BYTES_MIN, left >> 4));
  }

  /** Reads when it is its turn. */
  async inTurn<T>(read: () => Promise<T>): Promise<T> {
    if (this.#reading >= READS_AT_ONCE) await new Promise<void>((resolve) => this.#readers.push(resolve));
    else this.#reading += 1;
    try {
      return await read();
    } finally {
      // The place passes to the next one, if there is one.
      const next = this.#readers.shift();
      if (next) next();
      else this.#reading -= 1;
    }
  }
}
