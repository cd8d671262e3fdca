import { ByteBudget } from '@runyard/service-kit';

const PAGE_BYTES_MAX = 256 * 1024;
const PAGE_BYTES_MIN = 16 * 1024;
/** Pages asked for at once; their number, and so what comes over the one connection, does not grow with that of readers. */
const READS_AT_ONCE = 16;

/**
 * What all readers of a process hold together while their clients take it: live batches and pages of the stream. When it is used
 * up, live batches are not kept (they are in the stream) and pages become small, so that any number of slow readers goes on in
 * bounded memory.
 */
export class ReadBudget extends ByteBudget {
  #reading = 0;
  readonly #readers: (() => void)[] = [];

  /** How large a page may be now: a small part of what is left. */
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
      // The place goes over to the next one, if there is one.
      const next = this.#readers.shift();
      if (next) next();
      else this.#reading -= 1;
    }
  }
}
