import { type ByteBudget, ClientDisconnectedError, PayloadTooLargeError } from '@runyard/service-kit';

/** Lists up to this size are read at once: the number of requests in flight bounds them. */
const SMALL_LIST_BYTES = 64 * 1024;
/** Bytes of one list at most, as they are stored: in memory they are there several times over. */
export const LIST_BYTES_MAX = 32 * 1024 * 1024;

const TOO_LARGE = 'This list is too large for one answer. Use a smaller limit, or select fewer fields.';

/** Reads a list, with its content only where that has no more than `maxBytes`. */
type Read<T> = (maxBytes: number) => Promise<T>;

/** Makes lists wait for each other while their rows would take too much memory together. */
export class ListRoom {
  readonly #budget: ByteBudget;

  /** @param budget bytes of all large results and lists that answers of this process hold */
  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  /**
   * Reads a list of which nothing may be left out, when there is room for it, which it has until the signal. @throws
   * PayloadTooLargeError, ClientDisconnectedError
   */
  async readWhole<T extends { bytes: number }>(until: AbortSignal, read: Read<T>): Promise<T> {
    const list = await this.#read(until, read, LIST_BYTES_MAX);
    if (list.bytes > LIST_BYTES_MAX) throw new PayloadTooLargeError(TOO_LARGE, { code: 'list_too_large' });
    return list;
  }

  /** The same for a page that ends where it would have too much, after one row at least. @throws ClientDisconnectedError */
  readPage<T extends { bytes: number }>(until: AbortSignal, read: Read<T>): Promise<T> {
    return this.#read(until, read, Number.MAX_SAFE_INTEGER);
  }

  async #read<T extends { bytes: number }>(until: AbortSignal, read: Read<T>, maxBytes: number): Promise<T> {
    const small = await read(SMALL_LIST_BYTES);
    if (small.bytes <= SMALL_LIST_BYTES || small.bytes > maxBytes) return small;
    if (!(await this.#budget.hold(small.bytes, until))) throw new ClientDisconnectedError();
    return read(maxBytes);
  }
}
