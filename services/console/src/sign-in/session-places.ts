import type { ServerResponse } from 'node:http';
import { TooManyRequestsError } from '@runyard/service-kit';
import { sessionDigest } from './session-digest.ts';

/** Counts the open answers of each session, so that one person takes no room from all others. */
export class SessionPlaces {
  readonly #max: number;
  readonly #taken = new Map<string, number>();

  /** @param max open answers of a session, in this process */
  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place until the answer is closed. @throws TooManyRequestsError when there is none */
  take(session: string, res: ServerResponse): void {
    const key = sessionDigest(session);
    const taken = this.#taken.get(key) ?? 0;
    if (taken >= this.#max)
      throw new TooManyRequestsError('Too many requests of this session are open', {
        code: 'too_many_requests_of_session',
        retryAfterSeconds: 1,
      });
    if (res.closed) return;
    this.#taken.set(key, taken + 1);
    res.once('close', () => {
      const left = this.#taken.get(key)! - 1;
      if (left === 0) this.#taken.delete(key);
      else this.#taken.set(key, left);
    });
  }
}
