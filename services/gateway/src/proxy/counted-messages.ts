import { Transform, type TransformCallback } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

/** The opcode of a frame that goes on with a message (RFC 6455). */
const CONTINUATION = 0;

/**
 * Passes the bytes of a websocket's client on, and counts each message as a request: a client that sends more than it
 * may is read more slowly. Of frames it reads the headers alone.
 */
export class CountedMessages extends Transform {
  readonly #count: () => number;
  readonly #closed = new AbortController();
  /** The bytes of a header that is not complete. */
  #header: number[] = [];
  /** The bytes of the present frame that are still to come. */
  #payloadLeft = 0;

  /** @param count counts a message when it has room; returns the milliseconds until it has, and 0 when it was counted */
  constructor(count: () => number) {
    super();
    this.#count = count;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#pass(chunk).then(
      () => done(),
      () => done(), // It was closed.
    );
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#closed.abort();
    done(error);
  }

  async #pass(chunk: Buffer): Promise<void> {
    let passed = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft > 0) {
        const bytes = Math.min(this.#payloadLeft, chunk.length - at);
        this.#payloadLeft -= bytes;
        at += bytes;
        continue;
      }
      const isFirst = this.#header.length === 0;
      if (isFirst && (chunk[at]! & 0x0f) !== CONTINUATION) {
        for (let waitMs = this.#count(); waitMs > 0; waitMs = this.#count()) {
          if (at > passed) this.push(chunk.subarray(passed, at));
          passed = at;
          await pause(waitMs, undefined, { signal: this.#closed.signal });
        }
      }
      this.#header.push(chunk[at]!);
      at += 1;
      const payload = payloadOf(this.#header);
      if (payload === undefined) continue;
      this.#payloadLeft = payload;
      this.#header = [];
    }
    if (at > passed) this.push(chunk.subarray(passed));
  }
}

/** Returns the bytes that follow a frame's header; undefined when that is not complete. */
function payloadOf(header: readonly number[]): number | undefined {
  const [, second] = header;
  if (second === undefined) return undefined;
  const maskBytes = second & 0x80 ? 4 : 0;
  const short = second & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  if (header.length < 2 + lengthBytes + maskBytes) return undefined;
  if (lengthBytes === 0) return short;
  return header.slice(2, 2 + lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
}
