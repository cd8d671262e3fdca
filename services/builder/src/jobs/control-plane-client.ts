import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  BUILD_CONTENT_TYPE,
  type BuildEnd,
  BuildEndAnswer,
  BuildOrderAnswer,
  type BuildReport,
  BuildReportAnswer,
  conforms,
} from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import { BuildError } from '@runyard/deployments';
import type { Static, TSchema } from 'typebox';

/** control-plane answered, with an error that a repetition does not mend. */
export class OrderRefusedError extends Error {
  override readonly name = 'OrderRefusedError';
  readonly status: number;

  constructor(status: number, detail: string) {
    super(detail);
    this.status = status;
  }
}

/** control-plane, or what it needs, is unavailable: the same request may succeed later. */
export class ControlPlaneUnavailableError extends Error {
  override readonly name = 'ControlPlaneUnavailableError';
}

/** control-plane may read secrets elsewhere before it answers. */
const ORDER_MS = 30_000;
const REPORT_MS = 10_000;
/** Milliseconds without a byte of an archive. What is sent is stored in the bucket before the answer. */
const IDLE_MS = 120_000;
/** An image is put together meanwhile. */
const END_MS = 120_000;

/**
 * Sends each request once, and each with a deadline. The URLs are paths at the control-plane of the configuration: a job
 * cannot lead this process elsewhere.
 */
export class ControlPlaneClient {
  readonly #baseUrl: string;

  constructor(url: string) {
    this.#baseUrl = url.replace(/(?<!\/)\/+$/, '');
  }

  async order(path: string, signal: AbortSignal): Promise<BuildOrderAnswer> {
    return this.#ask(BuildOrderAnswer, path, {}, { signal, timeoutMs: ORDER_MS });
  }

  async report(path: string, report: BuildReport, signal: AbortSignal): Promise<BuildReportAnswer> {
    return this.#ask(BuildReportAnswer, path, report, { signal, timeoutMs: REPORT_MS });
  }

  async end(path: string, end: BuildEnd, signal: AbortSignal): Promise<BuildEndAnswer> {
    return this.#ask(BuildEndAnswer, path, end, { signal, timeoutMs: END_MS });
  }

  /** Opens an archive. It breaks off when no byte comes for a while. */
  async open(path: string, signal: AbortSignal): Promise<Readable> {
    const idle = new IdleLimit(signal);
    const answer = await idle.guard(this.#send(path, { signal: idle.signal }));
    return Readable.from(readAnswer(Readable.fromWeb(answer.body as ReadableStream), idle), { objectMode: false });
  }

  /** Sends an archive. It is given up when no byte is taken for a while. */
  async put(path: string, body: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const idle = new IdleLimit(signal);
    const headers = { 'content-type': BUILD_CONTENT_TYPE };
    const bytes = Readable.toWeb(Readable.from(readWithin(body, idle), { objectMode: false }));
    const init = { method: 'PUT', headers, body: bytes, duplex: 'half', signal: idle.signal };
    await idle.guard(this.#send(path, init as RequestInit).then((answer) => answer.text()));
    idle.end();
  }

  async #ask<Schema extends TSchema>(
    schema: Schema,
    path: string,
    body: unknown,
    { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
  ): Promise<Static<Schema>> {
    const headers = { 'content-type': 'application/json' };
    return withDeadline(signal, timeoutMs, async (limited) => {
      const answer = await this.#send(path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: limited,
      });
      const value: unknown = await answer.json().catch((error: unknown) => {
        signal.throwIfAborted();
        throw new ControlPlaneUnavailableError(`the answer of control-plane broke off: ${(error as Error).message}`);
      });
      if (conforms(schema, value)) return value;
      throw new ControlPlaneUnavailableError('the answer of control-plane is none of its contract');
    });
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const url = this.#baseUrl + path;
    const answer = await fetch(url, { ...init, redirect: 'error' }).catch((error: Error) => {
      const cause = error.cause as { code?: string } | undefined;
      throw init.signal?.aborted && init.signal.reason?.name !== 'TimeoutError'
        ? init.signal.reason
        : new ControlPlaneUnavailableError(`control-plane could not be reached (${cause?.code ?? error.name})`);
    });
    if (answer.ok) return answer;
    const { detail } = (await answer.json().catch(() => ({}))) as { detail?: unknown };
    const text = typeof detail === 'string' ? detail : `it answers ${answer.status}`;
    if (answer.status >= 500 && answer.status !== 507) throw new ControlPlaneUnavailableError(text);
    if (answer.status === 429) throw new ControlPlaneUnavailableError(text);
    throw new OrderRefusedError(answer.status, text);
  }
}

/** Ends a transfer that makes no progress: a connection may be dead without an error. */
class IdleLimit {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #follow = () => this.#controller.abort(this.#outer.reason);
  #timer: NodeJS.Timeout | undefined;

  constructor(outer: AbortSignal) {
    this.#outer = outer;
    outer.addEventListener('abort', this.#follow, { once: true });
    if (outer.aborted) this.#follow();
    this.touch();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Notes that there was progress. */
  touch(): void {
    clearTimeout(this.#timer);
    const late = () =>
      this.#controller.abort(new ControlPlaneUnavailableError('a transfer with control-plane stopped'));
    this.#timer = setTimeout(late, IDLE_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#follow);
  }

  /** Ends with the work when that fails. */
  async guard<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      this.end();
      throw error;
    }
  }
}

/** Yields the bytes, each of which is progress. @throws ControlPlaneUnavailableError when they break off */
async function* readWithin(bytes: AsyncIterable<Uint8Array>, idle: IdleLimit): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of bytes) {
      idle.touch();
      yield chunk;
    }
    idle.touch();
  } catch (error) {
    idle.signal.throwIfAborted();
    throw error instanceof BuildError
      ? error
      : new ControlPlaneUnavailableError(`a transfer with control-plane broke off: ${(error as Error).message}`);
  }
}

/** Yields the bytes of an answer, after which nothing comes. */
async function* readAnswer(bytes: AsyncIterable<Uint8Array>, idle: IdleLimit): AsyncGenerator<Uint8Array> {
  try {
    yield* readWithin(bytes, idle);
  } finally {
    idle.end();
  }
}
