import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** The most characters that are sent at once; a page asks for the state of a larger event. */
const TEXT_LENGTH_MAX = 2_000_000;

/** The stream to a browser, into which its sources write in turn: at most one of them is ahead of a slow reader. */
export class LiveOutput {
  readonly #res: ServerResponse;
  readonly #signal: AbortSignal;
  #turn: Promise<void> = Promise.resolve();

  /** @param signal aborts when the browser has left */
  constructor(res: ServerResponse, signal: AbortSignal) {
    this.#res = res;
    this.#signal = signal;
  }

  /** Sends an event. Resolves when it is written; what a slow browser does not take stays where it comes from. */
  send(id: string, event: string, data: string): Promise<void> {
    const text = JSON.stringify({ id, event, data });
    const isTooLarge = text.length > TEXT_LENGTH_MAX;
    const sent = isTooLarge ? JSON.stringify({ id, event: 'too_large', data: '{}' }) : text;
    const written = this.#turn.then(async () => {
      if (this.#res.writableNeedDrain) await once(this.#res, 'drain', { signal: this.#signal });
      this.#res.write(`data: ${sent}\n\n`);
    });
    this.#turn = written.catch(() => {});
    return written;
  }
}
