import type { ServerResponse } from 'node:http';
import { HANDOVER_HEADER } from '@runyard/contracts';
import { breakOff, leaveInFlight } from '@runyard/service-kit';
import type { Handover } from './handover.ts';

/** How often a quiet answer shows that it is alive. Clients size their idle watchdogs by it. */
export const SIGN_OF_LIFE_MS = 5_000;

/**
 * A client that takes nothing of what waits for it for so long is cut: it may be gone without a word, or never read again, and
 * what waits takes memory. One that lives comes back to where it was.
 */
const STALLED_MS = 5 * 60_000;

/** Why `closed` aborts. One object for all: an error made each time would carry a stack nobody reads. */
const CLOSED = new Error('The answer is complete, or the client is gone.');

export interface LiveResponseOptions {
  /** What says "still here" in this kind of answer. */
  signOfLife: string;
  /** An answer that is complete sooner goes out whole, in one packet. Default: headers go out at once. */
  headersWithinMs?: number;
  /** Default five minutes. */
  stalledMs?: number;
}

/**
 * An answer that takes its time: headers go out at once, a sign of life follows every five seconds on the connection's own
 * clock, and writing waits while the client is slow to read, so that what is buffered for one client stays bounded.
 */
export class LiveResponse {
  /** Aborts when the client is gone or the answer is complete. */
  readonly closed: AbortSignal;
  readonly #res: ServerResponse;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #headers: Record<string, string>;
  readonly #headersDue: NodeJS.Timeout | undefined;
  #finished = false;
  #stalled = false;
  #corked = false;

  constructor(res: ServerResponse, headers: Record<string, string>, options: LiveResponseOptions) {
    const { signOfLife, headersWithinMs = 0, stalledMs = STALLED_MS } = options;
    leaveInFlight(res);
    this.#res = res;
    this.closed = this.#closing.signal;
    this.#headers = headers;
    if (headersWithinMs === 0) this.#sendHeaders();
    else this.#headersDue = setTimeout(() => this.#sendHeaders(), headersWithinMs);
    this.#timer = setInterval(() => {
      // A client that does not read needs no more to read.
      if (!res.writableNeedDrain) res.write(signOfLife);
    }, SIGN_OF_LIFE_MS);
    // The time counts anew with every byte that the connection takes.
    res.setTimeout(stalledMs, () => this.#cutIfStalled());
    res.once('close', () => this.#release());
    if (res.destroyed) this.#release();
  }

  /** True when the client left before the answer was complete. */
  get wasAbandoned(): boolean {
    return this.closed.aborted && !this.#finished;
  }

  /** The client took nothing for so long that it was cut. */
  get wasStalled(): boolean {
    return this.#stalled;
  }

  /** Resolves at once while the client keeps up, else when it has caught up or is gone. */
  write(text: string | Uint8Array): Promise<void> | undefined {
    if (this.closed.aborted || this.#finished) return undefined;
    this.#corkThisTurn();
    if (this.#res.write(text)) return undefined;
    return new Promise((resolve) => {
      const settle = () => {
        this.#res.off('drain', settle);
        this.closed.removeEventListener('abort', settle);
        resolve();
      };
      this.#res.on('drain', settle);
      this.closed.addEventListener('abort', settle);
    });
  }

  end(text?: string | Uint8Array): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#stopTimers();
    if (text === undefined) this.#res.end();
    else if (this.#res.headersSent) this.#res.end(text);
    else this.#res.writeHead(200, { ...this.#headers, 'content-length': Buffer.byteLength(text) }).end(text);
  }

  /** Ends what was written so far, for somebody who gets the rest elsewhere. */
  handOver({ path, afterId }: Handover): void {
    if (this.#finished || this.closed.aborted) return;
    this.#finish();
    this.#res.addTrailers({ [HANDOVER_HEADER]: path, ...(afterId !== undefined && { 'last-event-id': afterId }) });
    this.#res.end();
  }

  /** Sends what was written so far and closes the connection: the only way to say, after the headers, that it is not all. */
  breakOff(): void {
    if (this.#finished || this.closed.aborted) return;
    this.#finish();
    breakOff(this.#res);
  }

  /** Closes the connection, whatever still waits to be sent. */
  cut(): void {
    this.#res.destroy();
  }

  #cutIfStalled(): void {
    if (!this.#res.writableNeedDrain) return;
    this.#stalled = true;
    this.cut();
  }

  /** Nothing more is written, and whoever wrote is told. */
  #finish(): void {
    this.#finished = true;
    if (!this.#res.headersSent) this.#sendHeaders();
    while (this.#res.writableCorked > 0) this.#res.uncork();
    this.#release();
  }

  /** Events that arrive together leave in one packet. */
  #corkThisTurn(): void {
    if (this.#corked) return;
    this.#corked = true;
    this.#res.cork();
    setImmediate(() => {
      this.#corked = false;
      this.#res.uncork();
    });
  }

  #sendHeaders(): void {
    this.#res.writeHead(200, this.#headers);
    this.#res.flushHeaders();
  }

  #release(): void {
    this.#stopTimers();
    this.#closing.abort(CLOSED);
  }

  #stopTimers(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#headersDue);
  }
}
