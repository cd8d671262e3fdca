import { createHash } from 'node:crypto';
import { nameOf } from './row-name.ts';

/** Sums up a list, whatever its order, in little memory: two lists with the same sum have the same items. */
export class Fingerprint {
  #sum = 0n;
  #count = 0;

  /** Passes pages on, and takes them into the sum. */
  async *watch<T>(pages: AsyncIterable<T[]>, identityOf: (row: T) => string): AsyncGenerator<T[]> {
    for await (const rows of pages) {
      for (const row of rows) {
        this.#sum = BigInt.asUintN(64, this.#sum + hashOf(nameOf(row, identityOf)));
        this.#count += 1;
      }
      yield rows;
    }
  }

  equals(other: Fingerprint): boolean {
    return this.#sum === other.#sum && this.#count === other.#count;
  }
}

function hashOf(text: string): bigint {
  return createHash('sha256').update(text).digest().readBigUInt64LE();
}
