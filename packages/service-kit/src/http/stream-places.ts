import type { ServerResponse } from 'node:http';
import { UnavailableError } from '../errors.ts';

/** Limits the long answers of this process that are open at the same time. */
export class StreamPlaces {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Takes a place until the answer, or the connection, is closed. @throws UnavailableError */
  take(res: Pick<ServerResponse, 'closed' | 'once'>): void {
    // A client that has left already sends no other `close`.
    if (res.closed) return;
    if (this.#taken >= this.#max) {
      throw new UnavailableError('Too many streams are open at the moment', { code: 'too_many_open_streams' });
    }
    this.#taken += 1;
    res.once('close', () => {
      this.#taken -= 1;
    });
  }
}
