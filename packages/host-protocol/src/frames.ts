/**
 * The lowest layer of the host protocol: messages as frames on a byte stream.
 *
 * A frame is `u32 length | u32 stream | piece`, big-endian, where `length` counts everything after itself and is at
 * most 256 KiB. Stream 0 carries a whole message in one frame. A larger message is cut into frames of one stream
 * number, the last of them with the highest bit of `stream` set, so that pieces of several large messages and small
 * messages share the wire. Messages of the same lane never overtake each other; different lanes may.
 */
import type { Duplex } from 'node:stream';

export const MAX_FRAME_BYTES = 256 * 1024;
const MAX_PIECE_BYTES = MAX_FRAME_BYTES - 4;
const LAST_PIECE = 0x8000_0000;
/** No legitimate message is larger: V8 could not hold its text. */
const MAX_MESSAGE_BYTES = 1024 * 1024 * 1024;

interface Outgoing {
  parts: Uint8Array[];
  size: number;
  /** The stream number; 0 until the first piece has been sent. */
  stream: number;
  sent: number;
}

export class FrameWriter {
  readonly #socket: Duplex;
  /** Frames ready to go, in order. */
  #ready: Uint8Array[] = [];
  #readyBytes = 0;
  /** Lanes with a message that is large, or that waits behind one. */
  readonly #lanes = new Map<number, Outgoing[]>();
  #nextStream = 1;
  #flushScheduled = false;
  #blocked = false;
  #beforeFlush: (() => void)[] = [];

  constructor(socket: Duplex) {
    this.#socket = socket;
    socket.on('drain', () => {
      this.#blocked = false;
      this.#flush();
    });
  }

  send(lane: number, parts: Uint8Array[]): void {
    let size = 0;
    for (const part of parts) size += part.byteLength;
    if (size > MAX_MESSAGE_BYTES) throw new RangeError(`message of ${size} bytes exceeds ${MAX_MESSAGE_BYTES}`);
    const waiting = this.#lanes.get(lane);
    if (waiting === undefined && size <= MAX_PIECE_BYTES) {
      this.#pushFrame(0, parts, size);
    } else {
      const outgoing = { parts, size, stream: 0, sent: 0 };
      if (waiting === undefined) this.#lanes.set(lane, [outgoing]);
      else waiting.push(outgoing);
    }
    this.#schedule();
  }

  /** Runs `produce` right before the next write, so that what it sends goes out with it. */
  beforeFlush(produce: () => void): void {
    this.#beforeFlush.push(produce);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    // One write per turn of the event loop lets the messages of many runs share a system call.
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    const producers = this.#beforeFlush;
    this.#beforeFlush = [];
    for (const produce of producers) produce();
    this.#writeReady();
    while (!this.#blocked && this.#lanes.size > 0) {
      for (const [lane, queue] of this.#lanes) this.#advance(lane, queue);
      this.#writeReady();
    }
  }

  /** Adds one piece of the lane's first message to the ready frames. */
  #advance(lane: number, queue: Outgoing[]): void {
    const outgoing = queue[0] as Outgoing;
    if (outgoing.size <= MAX_PIECE_BYTES) {
      this.#pushFrame(0, outgoing.parts, outgoing.size);
      outgoing.sent = outgoing.size;
    } else {
      if (outgoing.stream === 0) outgoing.stream = this.#takeStream();
      const piece = slice(outgoing.parts, outgoing.sent, MAX_PIECE_BYTES);
      let length = 0;
      for (const part of piece) length += part.byteLength;
      outgoing.sent += length;
      const isLast = outgoing.sent === outgoing.size;
      this.#pushFrame(isLast ? (outgoing.stream | LAST_PIECE) >>> 0 : outgoing.stream, piece, length);
    }
    if (outgoing.sent === outgoing.size) {
      queue.shift();
      if (queue.length === 0) this.#lanes.delete(lane);
    }
  }

  #takeStream(): number {
    const stream = this.#nextStream;
    this.#nextStream = stream >= LAST_PIECE - 1 ? 1 : stream + 1;
    return stream;
  }

  #pushFrame(stream: number, parts: Uint8Array[], size: number): void {
    const head = Buffer.allocUnsafe(8);
    head.writeUInt32BE(size + 4, 0);
    head.writeUInt32BE(stream, 4);
    this.#ready.push(head, ...parts);
    this.#readyBytes += size + 8;
  }

  #writeReady(): void {
    if (this.#ready.length === 0) return;
    const bytes = Buffer.concat(this.#ready, this.#readyBytes);
    this.#ready = [];
    this.#readyBytes = 0;
    if (!this.#socket.write(bytes)) this.#blocked = true;
  }
}

function slice(parts: Uint8Array[], from: number, limit: number): Uint8Array[] {
  const taken: Uint8Array[] = [];
  let position = 0;
  let left = limit;
  for (const part of parts) {
    const start = Math.max(from - position, 0);
    if (start < part.byteLength && left > 0) {
      const piece = part.subarray(start, start + left);
      taken.push(piece);
      left -= piece.byteLength;
    }
    position += part.byteLength;
    if (left === 0) break;
  }
  return taken;
}

/** Reassembles the messages of a byte stream. Throws on bytes that no writer makes. */
export class FrameReader {
  readonly #onMessage: (message: Buffer) => void;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  readonly #streams = new Map<number, Buffer[]>();
  /** Counts the pieces whose message is not whole yet. */
  #unfinishedBytes = 0;

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#pending.push(chunk);
    this.#pendingBytes += chunk.byteLength;
    if (this.#pendingBytes < this.#needed()) return;
    const bytes = this.#pending.length === 1 ? chunk : Buffer.concat(this.#pending, this.#pendingBytes);
    let position = 0;
    while (bytes.byteLength - position >= 4) {
      const length = frameLength(bytes, position);
      if (bytes.byteLength - position - 4 < length) break;
      this.#frame(bytes.readUInt32BE(position + 4), bytes.subarray(position + 8, position + 4 + length));
      position += 4 + length;
    }
    const rest = bytes.subarray(position);
    this.#pending = rest.byteLength > 0 ? [rest] : [];
    this.#pendingBytes = rest.byteLength;
  }

  /**
   * Returns how many bytes must be there before parsing again makes sense: it avoids joining a frame's chunks
   * repeatedly.
   */
  #needed(): number {
    const first = this.#pending[0] as Buffer;
    return first.byteLength >= 4 ? frameLength(first, 0) + 4 : 4;
  }

  #frame(streamField: number, piece: Buffer): void {
    if (streamField === 0) {
      this.#onMessage(piece);
      return;
    }
    const isLast = streamField >= LAST_PIECE;
    const stream = isLast ? streamField - LAST_PIECE : streamField;
    const pieces = this.#streams.get(stream);
    if (!isLast) {
      this.#unfinishedBytes += piece.byteLength;
      if (this.#unfinishedBytes > MAX_MESSAGE_BYTES) throw new RangeError('messages that have no end');
      if (pieces) pieces.push(piece);
      else this.#streams.set(stream, [piece]);
      return;
    }
    this.#streams.delete(stream);
    for (const { byteLength } of pieces ?? []) this.#unfinishedBytes -= byteLength;
    this.#onMessage(pieces ? Buffer.concat([...pieces, piece]) : piece);
  }
}

function frameLength(bytes: Buffer, position: number): number {
  const length = bytes.readUInt32BE(position);
  if (length < 4 || length > MAX_FRAME_BYTES) throw new RangeError(`frame of ${length} bytes`);
  return length;
}
