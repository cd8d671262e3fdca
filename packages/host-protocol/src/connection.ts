/**
 * One end of the host protocol: it sends typed messages, checks received ones, and matches answers to their requests.
 */
import type { Duplex } from 'node:stream';
import { FrameReader, FrameWriter } from './frames.ts';
import type { MessageChecks } from './messages/checks.ts';
import type { ErrorBody } from './messages/messages.ts';

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

/** The header of a request, whose id the connection gives. */
export type RequestHeader = { t: string } & Record<string, unknown>;

export interface Answer {
  ok: unknown;
  raw: Buffer;
}

export interface ConnectionOptions {
  socket: Duplex;
  /** Without them, what arrives is believed to have its form. */
  checks?: MessageChecks;
  onMessage(message: Incoming): void;
  /**
   * Is called when the connection has ended.
   *
   * @param fault set when the other side did not keep to the protocol: its predicate, like `sent a frame of 2 bytes`
   */
  onClose(reason: string, fault?: string): void;
}

/** A request without an answer yet. */
interface Waiting {
  type: string;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

const NO_BYTES: Uint8Array[] = [];
/** A text of JavaScript has half a gigabyte at most. The bytes behind the JSON are not part of it. */
const MAX_HEADER_BYTES = 256 * 1024 * 1024;

export class HostConnection {
  readonly #socket: Duplex;
  readonly #writer: FrameWriter;
  readonly #options: ConnectionOptions;
  readonly #waiting = new Map<number, Waiting>();
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
        this.closeOnFault(`sent bytes that are not the protocol: ${(error as Error).message}`);
      }
      for (const message of received.splice(0)) this.#receive(message);
    });
    options.socket.on('error', (error) => this.close(error.message));
    options.socket.on('end', () => this.close('the other side closed the connection'));
    options.socket.on('close', () => this.close('the connection closed'));
  }

  /**
   * Sends a message that expects no answer. Messages of one `lane` keep their order.
   *
   * @throws RangeError for one that is too large, of which nothing is sent
   */
  send(lane: number, header: Record<string, unknown>, raw: Uint8Array[] = NO_BYTES): void {
    if (this.#closed !== undefined) return;
    const text = Buffer.from(JSON.stringify(header));
    if (text.byteLength > MAX_HEADER_BYTES) {
      throw new RangeError(`${text.byteLength} bytes of JSON are more than a message has (${MAX_HEADER_BYTES})`);
    }
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32BE(text.byteLength, 0);
    this.#writer.send(lane, [length, text, ...raw]);
  }

  /** Sends a request. Rejects with {@link RemoteError}. */
  request(lane: number, header: RequestHeader, raw: Uint8Array[] = NO_BYTES): Promise<Answer> {
    if (this.#closed !== undefined) return Promise.reject(toClosedError(this.#closed));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      // A message that cannot be sent has no answer to wait for.
      this.send(lane, { ...header, id }, raw);
      this.#waiting.set(id, { type: header.t, resolve, reject });
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
    this.#close(reason);
  }

  /** Ends the connection with a side that does not keep to the protocol. @param fault its predicate */
  closeOnFault(fault: string): void {
    this.#close(`the other side ${fault}`, fault);
  }

  #close(reason: string, fault?: string): void {
    if (this.#closed !== undefined) return;
    this.#closed = reason;
    const error = toClosedError(reason);
    for (const waiter of this.#waiting.values()) waiter.reject(error);
    this.#waiting.clear();
    this.#socket.destroy();
    this.#options.onClose(reason, fault);
  }

  /** Answers a request whose type is unknown here, so that a newer peer learns it at once instead of waiting. */
  refuseUnknown({ t, id, use }: Incoming['header']): void {
    if (!isNumber(id)) return;
    this.answerError(isNumber(use) ? use : 0, id, toProtocolError('unsupported', `unknown message type ${t}`));
  }

  #receive({ header, raw }: Incoming): void {
    if (this.#closed !== undefined) return;
    const { checks } = this.#options;
    const known = checks?.messages.get(header.t);
    if (checks && known === undefined) {
      this.refuseUnknown(header);
      return;
    }
    const fault = known?.check(header);
    if (known && fault !== undefined) this.#refuseIllFormed(header, fault, known.onFault);
    else if (header.t === 'answer') this.#settle(header, raw);
    else this.#options.onMessage({ header, raw });
  }

  /**
   * Reports an ill-formed message to whoever waits for it. Where nobody can be told, as with a run that would never
   * end, the connection ends.
   */
  #refuseIllFormed({ t, id, use }: Incoming['header'], fault: string, onFault: 'answer' | 'drop' | 'close'): void {
    if (onFault === 'drop') return;
    const error = toProtocolError('invalid', `${t} does not have the expected form: ${fault}`);
    const waiting = t === 'answer' && isNumber(id) ? this.#takeWaiting(id) : undefined;
    if (waiting) waiting.reject(new RemoteError(error));
    else if (onFault === 'answer' && isNumber(id)) this.answerError(isNumber(use) ? use : 0, id, error);
    else this.closeOnFault(`sent what is not the protocol: ${error.message}`);
  }

  #settle(header: Incoming['header'], raw: Buffer): void {
    const waiting = this.#takeWaiting(header.id as number);
    if (waiting === undefined) return;
    const fault = header.error ? undefined : this.#options.checks?.answers.get(waiting.type)?.(header.ok);
    if (header.error) waiting.reject(new RemoteError(header.error as ErrorBody));
    else if (fault === undefined) waiting.resolve({ ok: header.ok, raw });
    else waiting.reject(new RemoteError(toProtocolError('invalid', `the answer to ${waiting.type}: ${fault}`)));
  }

  #takeWaiting(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }
}

function decode(message: Buffer): Incoming {
  const headerLength = message.readUInt32BE(0);
  const header = JSON.parse(message.toString('utf8', 4, 4 + headerLength)) as Incoming['header'];
  if (typeof header?.t !== 'string') throw new TypeError('a message without a type');
  return { header, raw: message.subarray(4 + headerLength) };
}

/** Ids and uses are unchecked in messages of unknown types, and in ill-formed ones. */
function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function toClosedError(reason: string): RemoteError {
  return new RemoteError({ kind: 'gone', error: 'HostGoneError', message: reason });
}

function toProtocolError(kind: 'unsupported' | 'invalid', message: string): ErrorBody {
  return { kind, error: 'ProtocolError', message };
}
