/**
 * One end of the host protocol: it sends typed messages, checks received ones, and matches answers to their requests.
 */
import type { Duplex } from 'node:stream';
import { FrameReader, FrameWriter } from './frames.ts';
import type { Check, ErrorBody } from './messages.ts';

/** The other side answered a request with an error, or has closed the connection (`kind: "gone"`). */
export class RemoteError extends Error {
  readonly kind: string;
  readonly graphId: string | undefined;
  readonly step: ErrorBody['step'];
  constructor(body: ErrorBody) {
    super(body.message);
    this.name = body.error;
    this.kind = body.kind;
    this.graphId = body.graphId;
    this.step = body.step;
  }
}

export interface Incoming {
  header: Record<string, unknown> & { t: string; id?: number; use?: number };
  raw: Buffer;
}

export interface Answer {
  ok: unknown;
  raw: Buffer;
}

export interface ConnectionOptions {
  socket: Duplex;
  checks: Map<string, Check>;
  onMessage(message: Incoming): void;
  /** Is called when the stream ended or carried bytes that are not the protocol. */
  onClose(reason: string): void;
}

const NO_BYTES: Uint8Array[] = [];

export class HostConnection {
  readonly #socket: Duplex;
  readonly #writer: FrameWriter;
  readonly #options: ConnectionOptions;
  readonly #waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  #nextId = 1;
  #closed: string | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#writer = new FrameWriter(options.socket);
    const received: Incoming[] = [];
    const reader = new FrameReader((message) => received.push(decode(message)));
    options.socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.close(`bytes that are not the protocol: ${(error as Error).message}`);
      }
      for (const message of received.splice(0)) this.#receive(message);
    });
    options.socket.on('error', (error) => this.close(error.message));
    options.socket.on('end', () => this.close('the other side closed the connection'));
    options.socket.on('close', () => this.close('the connection closed'));
  }

  /** Sends a message that expects no answer. Messages of one `lane` keep their order. */
  send(lane: number, header: Record<string, unknown>, raw: Uint8Array[] = NO_BYTES): void {
    if (this.#closed !== undefined) return;
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(text.byteLength, 0);
    this.#writer.send(lane, [length, text, ...raw]);
  }

  /** Sends a request. Rejects with {@link RemoteError}. */
  request(lane: number, header: Record<string, unknown>, raw: Uint8Array[] = NO_BYTES): Promise<Answer> {
    if (this.#closed !== undefined) return Promise.reject(toClosedError(this.#closed));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.send(lane, { ...header, id }, raw);
    });
  }

  /** Runs `produce` right before the next write. */
  beforeFlush(produce: () => void): void {
    this.#writer.beforeFlush(produce);
  }

  answer(lane: number, id: number, ok: unknown, raw: Uint8Array[] = NO_BYTES): void {
    this.send(lane, { t: 'answer', id, ok }, raw);
  }

  answerError(lane: number, id: number, error: ErrorBody): void {
    this.send(lane, { t: 'answer', id, error });
  }

  close(reason: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    const error = toClosedError(reason);
    for (const waiter of this.#waiting.values()) waiter.reject(error);
    this.#waiting.clear();
    this.#socket.destroy();
    this.#options.onClose(reason);
  }

  #receive({ header, raw }: Incoming): void {
    if (this.#closed !== undefined) return;
    const check = this.#options.checks.get(header.t);
    if (check === undefined || !check(header)) {
      this.#refuse(header, check === undefined);
      return;
    }
    if (header.t === 'answer') this.#settle(header, raw);
    else this.#options.onMessage({ header, raw });
  }

  /**
   * Answers an unknown or ill-formed request with an error, so that a newer peer learns it at once instead of waiting.
   */
  #refuse(header: Incoming['header'], isUnknown: boolean): void {
    if (typeof header.id !== 'number') return;
    if (header.t === 'answer') {
      this.#waiting.get(header.id)?.reject(toClosedError('an answer did not have the expected form'));
      this.#waiting.delete(header.id);
      return;
    }
    const message = isUnknown ? `unknown message type ${header.t}` : `${header.t} does not have the expected form`;
    this.answerError(header.use ?? 0, header.id, {
      kind: isUnknown ? 'unsupported' : 'invalid',
      error: 'ProtocolError',
      message,
    });
  }

  #settle(header: Incoming['header'], raw: Buffer): void {
    const waiter = this.#waiting.get(header.id as number);
    if (waiter === undefined) return;
    this.#waiting.delete(header.id as number);
    if (header.error) waiter.reject(new RemoteError(header.error as ErrorBody));
    else waiter.resolve({ ok: header.ok, raw });
  }
}

function decode(message: Buffer): Incoming {
  const headerLength = message.readUInt32BE(0);
  const header = JSON.parse(message.toString('utf8', 4, 4 + headerLength)) as Incoming['header'];
  if (typeof header?.t !== 'string') throw new TypeError('a message without a type');
  return { header, raw: message.subarray(4 + headerLength) };
}

function toClosedError(reason: string): RemoteError {
  return new RemoteError({ kind: 'gone', error: 'HostGoneError', message: reason });
}
