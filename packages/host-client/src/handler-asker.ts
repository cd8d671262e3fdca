import { type Answer, type HostConnection, type ProjectExport, RemoteError } from '@runyard/host-protocol';
import type { AuthHandlerError, EncryptionHandlerError } from './handler-errors.ts';
import { inTime } from './in-time.ts';
import { loadField } from './loading.ts';

/** A kind of object that a project may have, whose handlers its parent asks. */
export interface AskedObject {
  /** The field of `langgraph.json` that names it. */
  field: string;
  /** The type of the request that loads it. */
  load: string;
  /** Milliseconds that a handler may take. */
  timeoutMs: number;
  HandlerError: typeof AuthHandlerError | typeof EncryptionHandlerError;
}

/** Milliseconds that loading the object may take, and a handler if not as long as is usual. */
export interface AskingLimits {
  loadMs: number;
  timeoutMs?: number | undefined;
}

/** Asks the handlers of an object. Whatever is not a clear answer is an error, in the time given. */
export class HandlerAsker {
  readonly #connection: HostConnection;
  readonly #object: AskedObject;
  readonly #loadMs: number;
  readonly #timeoutMs: number;

  constructor(connection: HostConnection, object: AskedObject, { loadMs, timeoutMs }: AskingLimits) {
    this.#connection = connection;
    this.#object = object;
    this.#loadMs = loadMs;
    this.#timeoutMs = timeoutMs ?? object.timeoutMs;
  }

  /** @throws GraphLoadError */
  async load(source: ProjectExport): Promise<unknown> {
    const loading = this.#connection.request(0, { t: this.#object.load, source });
    return (await loadField(loading, this.#object.field, this.#loadMs)).ok;
  }

  /**
   * @param handler as its author knows it, for the error
   * @throws the error of the object's handlers
   */
  async ask(
    handler: string,
    question: { t: string; source: ProjectExport; [field: string]: unknown },
    raw?: Uint8Array[],
  ): Promise<Answer> {
    const { HandlerError } = this.#object;
    const late = () => new HandlerError('late', handler, `no answer in ${this.#timeoutMs / 1000} s`);
    try {
      return await inTime(this.#connection.request(0, question, raw), this.#timeoutMs, late);
    } catch (cause) {
      if (!(cause instanceof RemoteError)) throw cause;
      const reason = cause.kind === 'gone' ? 'gone' : 'failed';
      throw new HandlerError(reason, handler, `${cause.name}: ${cause.message}`, { cause });
    }
  }
}
