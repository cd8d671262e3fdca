/**
 * Holds events of one run until the parent grants byte credits for them; it grants what it has passed on. While there
 * is no credit, events wait here; superseded ones are dropped, and past the limit the run fails.
 */
import type { HostConnection } from '@runyard/host-protocol/graph-process';
import type { RenderedEvent } from '../events/event-renderer.ts';

/** Events were produced faster than the parent passed them on. */
class StreamBufferOverflowError extends Error {
  constructor(limitBytes: number) {
    super(`The run streamed more than ${limitBytes} bytes that could not be delivered`);
    this.name = 'StreamBufferOverflowError';
  }
}

interface Waiting {
  mode: string;
  event: string;
  data: Buffer;
  supersedes: string | undefined;
}

export interface EventBufferOptions {
  connection: HostConnection;
  use: number;
  creditBytes: number;
  bufferBytes: number;
  /** Bytes of the largest event that is sent. A gap event replaces a larger one. */
  eventBytes: number;
  /** Is called once, when the buffer limit is passed. */
  onOverflow(error: StreamBufferOverflowError): void;
}

export class EventBuffer {
  readonly #options: EventBufferOptions;
  #credit: number;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** The waiting event that a later one with the same key replaces. */
  readonly #replaceable = new Map<string, Waiting>();
  #scheduled = false;
  #holds = 0;
  #emitted = 0;
  #overflown = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: EventBufferOptions) {
    this.#options = options;
    this.#credit = options.creditBytes;
  }

  /** The number of events that were sent or wait here. Once as many have arrived, none of them is missing. */
  get emitted(): number {
    return this.#emitted;
  }

  push(rendered: RenderedEvent): void {
    if (this.#overflown) return;
    const bytes = Buffer.byteLength(rendered.data);
    const { mode, event, data, supersedes } =
      bytes > this.#options.eventBytes ? toTooLargeGap(rendered, bytes) : rendered;
    const waiting: Waiting = { mode, event, data: Buffer.from(data), supersedes };
    if (supersedes !== undefined) this.#supersede(supersedes, waiting);
    this.#waiting.push(waiting);
    this.#emitted++;
    this.#waitingBytes += waiting.data.byteLength;
    // A single event is never too much: it is sent as soon as there is any credit.
    if (this.#waitingBytes > this.#options.bufferBytes && this.#waiting.length > 1) {
      this.#overflown = true;
      this.#drop();
      this.#options.onOverflow(new StreamBufferOverflowError(this.#options.bufferBytes));
      return;
    }
    this.#schedule();
  }

  /** Sends nothing until `release` was called as many times: a message that is being prepared must be sent first. */
  hold(): void {
    this.#holds++;
  }

  release(): void {
    this.#holds--;
    if (this.#holds === 0 && this.#waiting.length > 0) this.#schedule();
  }

  grant(bytes: number): void {
    this.#credit += bytes;
    if (this.#waiting.length > 0) this.#schedule();
  }

  /**
   * Sends events at the end of a turn of the event loop and never within it. A checkpoint that the graph writes in the
   * same turn reaches the connection first, and the parent delivers the events after it.
   */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.connection.beforeFlush(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  /** Passes waiting events to the connection, as far as the credit allows. */
  #flush(): void {
    if (this.#holds > 0 || this.#waiting.length === 0 || this.#credit <= 0) return;
    const events: [string, string, number][] = [];
    const raw: Buffer[] = [];
    let taken = 0;
    for (const waiting of this.#waiting) {
      if (this.#credit <= 0) break;
      events.push([waiting.mode, waiting.event, waiting.data.byteLength]);
      raw.push(waiting.data);
      this.#credit -= waiting.data.byteLength;
      this.#waitingBytes -= waiting.data.byteLength;
      if (waiting.supersedes !== undefined && this.#replaceable.get(waiting.supersedes) === waiting) {
        this.#replaceable.delete(waiting.supersedes);
      }
      taken++;
    }
    this.#waiting = taken === this.#waiting.length ? [] : this.#waiting.slice(taken);
    this.#options.connection.send(this.#options.use, { t: 'run.events', use: this.#options.use, events }, raw);
    if (this.#waiting.length === 0) this.#onEmpty?.();
  }

  /** Resolves when no event waits any more. */
  async waitUntilEmpty(): Promise<void> {
    if (this.#waiting.length > 0) await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  #supersede(key: string, next: Waiting): void {
    const before = this.#replaceable.get(key);
    this.#replaceable.set(key, next);
    if (before === undefined || this.#credit > 0) return;
    this.#waiting.splice(this.#waiting.indexOf(before), 1);
    this.#emitted--;
    this.#waitingBytes -= before.data.byteLength;
  }

  #drop(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#replaceable.clear();
    this.#onEmpty?.();
  }
}

/** Replaces an event that is too large, so that the client sees that one is missing. */
function toTooLargeGap({ event }: RenderedEvent, bytes: number): RenderedEvent {
  const data = JSON.stringify({ reason: 'too_large', after: null, event, bytes });
  return { mode: 'stream.gap', event: 'gap', data };
}
