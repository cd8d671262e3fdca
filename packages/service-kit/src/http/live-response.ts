import type { ServerResponse } from 'node:http';
import { HANDOFF_HEADER } from '@runyard/contracts';
import { excludeFromInFlight } from '../admission.ts';
import { abortResponse } from './error-answer.ts';

/** The continuation: where the rest of an answer is found, at any process of the deployment. */
export interface Continuation {
  /** Path and query of a GET. */
  path: string;
  /** The id of the event that was sent last, for a stream. */
  afterId?: string | undefined;
}

/** Milliseconds between heartbeats of a quiet answer. Clients size their idle watchdogs by it. */
const HEARTBEAT_MS = 5_000;

/**
 * Milliseconds without a read after which a client is cut: it may be unreachable, or never read again, and its buffer
 * takes memory. A client that lives resumes where it was.
 */
const STALLED_MS = 5 * 60_000;

/** Bytes that are handed to a client's connection at once. */
const CHUNK_BYTES = 256 * 1024;

/** The reason of `closed`. One object for all: an error made each time would carry a stack nobody reads. */
const CLOSED = new Error('The answer is complete, or the client is gone.');

function toChunks(piece: Uint8Array): Uint8Array[] {
  const count = Math.ceil(piece.byteLength / CHUNK_BYTES);
  return Array.from({ length: count }, (_, n) => piece.subarray(n * CHUNK_BYTES, (n + 1) * CHUNK_BYTES));
}

interface LiveResponseOptions {
  /** The heartbeat of this kind of answer. */
  heartbeat: string;
  /** Milliseconds within which a complete answer goes out whole, in one packet. Default: headers go out at once. */
  headersWithinMs?: number;
  /** Default five minutes. */
  stalledMs?: number;
}

/**
 * A long answer: headers go out at once, a heartbeat follows every five seconds on the connection's own clock, and
 * writing waits while the client is slow to read, so that the buffer of one client stays bounded.
 */
export class LiveResponse {
  /** Aborts when the client has disconnected or the answer is complete. */
  readonly closed: AbortSignal;
  /** Resolves when the headers are out. */
  readonly begun: Promise<void>;
  readonly #res: ServerResponse;
  readonly #closing = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #headers: Record<string, string>;
  readonly #headersDue: NodeJS.Timeout | undefined;
  #begin!: () => void;
  #finished = false;
  #stalled = false;
  #corked = false;

  constructor(res: ServerResponse, headers: Record<string, string>, options: LiveResponseOptions) {
    const { heartbeat, headersWithinMs = 0, stalledMs = STALLED_MS } = options;
    excludeFromInFlight(res);
    this.#res = res;
    this.closed = this.#closing.signal;
    this.begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
    this.#headers = headers;
    if (headersWithinMs === 0) this.#sendHeaders();
    else this.#headersDue = setTimeout(() => this.#sendHeaders(), headersWithinMs);
    this.#timer = setInterval(() => {
      // A client that does not read needs nothing more to read.
      if (!res.writableNeedDrain) res.write(heartbeat);
    }, HEARTBEAT_MS);
    // The timeout starts anew with every byte that the connection takes.
    res.setTimeout(stalledMs, () => this.#cutIfStalled());
    res.once('close', () => this.#release());
    if (res.destroyed) this.#release();
  }

  /** True when the client left before the answer was complete. */
  get wasAbandoned(): boolean {
    return this.closed.aborted && !this.#finished;
  }

  /** True when the client was cut because it read nothing for too long. */
  get wasStalled(): boolean {
    return this.#stalled;
  }

  /** Resolves at once while the client keeps up, else when it has caught up or has disconnected. */
  write(text: string | Uint8Array): Promise<void> | undefined {
    if (this.closed.aborted || this.#finished) return undefined;
    this.#corkThisTurn();
    return this.#res.write(text) ? undefined : this.#untilDrained();
  }

  /** Resolves when the client has caught up or has disconnected. */
  #untilDrained(): Promise<void> {
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

  end(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#stopTimers();
    this.#res.end();
  }

  /**
   * Ends with a body that may be large: it is written in parts as the client takes it. Resolves when all is written.
   */
  async endWith(pieces: Uint8Array[]): Promise<void> {
    if (this.#finished || this.closed.aborted) return;
    this.#finished = true;
    this.#stopTimers();
    if (!this.#res.headersSent) {
      const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
      this.#res.writeHead(200, { ...this.#headers, 'content-length': length });
      this.#begin();
    }
    const chunks = pieces.flatMap(toChunks);
    const last = chunks.pop();
    for (const chunk of chunks) {
      if (!this.#res.write(chunk)) await this.#untilDrained();
      if (this.closed.aborted) return;
    }
    this.#res.end(last);
  }

  /** Leaves the answer to another writer. Returns false when its headers are out: it must be completed here then. */
  withdraw(): boolean {
    if (this.#res.headersSent || this.#finished) return false;
    this.#finished = true;
    this.#release();
    return true;
  }

  /** Ends the answer after what was written, with trailers that say where the continuation is. */
  handOff({ path, afterId }: Continuation): void {
    if (this.#finished || this.closed.aborted) return;
    this.#finish();
    this.#res.addTrailers({ [HANDOFF_HEADER]: path, ...(afterId !== undefined && { 'last-event-id': afterId }) });
    this.#res.end();
  }

  /**
   * Sends what was written and closes the connection: the only way to say, after the headers, that it is incomplete.
   */
  breakOff(): void {
    if (this.#finished || this.closed.aborted) return;
    this.#finish();
    abortResponse(this.#res);
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

  /** Stops all writing and aborts `closed` for the writer. */
  #finish(): void {
    this.#finished = true;
    if (!this.#res.headersSent) this.#sendHeaders();
    while (this.#res.writableCorked > 0) this.#res.uncork();
    this.#release();
  }

  /** Corks the connection until the end of this turn, so that events that arrive together leave in one packet. */
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
    this.#begin();
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
