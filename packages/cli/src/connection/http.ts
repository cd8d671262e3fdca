import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { withDeadline } from '@runyard/deadline';
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import { CliError, ExitCode, reasonOf } from '../cli-error.ts';

/** Milliseconds before further tries; a longer `Retry-After` of the server wins. */
const RETRY_DELAYS_MS = [250, 1_000, 3_000];
const RETRY_AFTER_MAX_MS = 30_000;
const ANSWER_TIMEOUT_MS = 30_000;
/** An answer is one string, and Node has none that are longer than 512 MiB. */
const ANSWER_MAX_BYTES = 500 * 1_024 * 1_024;
/** Longest text of a refused stream. */
const REFUSAL_MAX_BYTES = 1_024 * 1_024;
/** Status codes of a platform, or of a proxy before it, that is unavailable or overloaded at the moment. */
const TRY_AGAIN_LATER = new Set([429, 502, 503, 504]);

export interface HttpRequest {
  method: Dispatcher.HttpMethod;
  url: string;
  headers: Record<string, string>;
  /** Creates the body anew for each try. */
  body?: () => NonNullable<Dispatcher.DispatchOptions['body']>;
  /** True when the request may be repeated although the first one may have been executed. */
  isRepeatable: boolean;
  /** Milliseconds; default 30 s. */
  timeoutMs?: number;
  /** Length of the answer above which it is refused; default 500 MiB. */
  maxBytes?: number;
}

export interface HttpAnswer {
  status: number;
  text: string;
}

/** An answer that is read as it comes. */
export interface StreamedAnswer {
  status: number;
  /** Reads what comes until the answer ends; who leaves the loop closes it. @throws CliError when it breaks off */
  chunks(): AsyncGenerator<Buffer>;
  /** Reads an answer that is short. @throws CliError */
  readText(): Promise<string>;
}

/** Nobody knows whether the request arrived, and it must not be repeated. */
export class UnknownOutcomeError extends CliError {}

/**
 * Sends requests with retries. A connection that cannot be opened is always retried; one that breaks, or an answer to
 * try later, is retried when the request may be repeated.
 */
export class Http {
  readonly #interrupted: AbortSignal;
  readonly #dispatcher: Dispatcher;
  readonly #trace: (line: string) => void;

  constructor(options: {
    env: Record<string, string | undefined>;
    interrupted: AbortSignal;
    trace?: (line: string) => void;
  }) {
    const { env } = options;
    this.#interrupted = options.interrupted;
    // Every request in flight listens to it.
    setMaxListeners(0, options.interrupted);
    this.#trace = options.trace ?? (() => {});
    this.#dispatcher = new EnvHttpProxyAgent({
      httpProxy: env.http_proxy ?? env.HTTP_PROXY ?? '',
      httpsProxy: env.https_proxy ?? env.HTTPS_PROXY ?? '',
      noProxy: env.no_proxy ?? env.NO_PROXY ?? '',
    });
  }

  /** @throws CliError when there is no answer, or one too long; an answer with an error status is an answer */
  async send(wanted: HttpRequest): Promise<HttpAnswer> {
    for (let tries = 0; ; tries += 1) {
      const delay = RETRY_DELAYS_MS[tries];
      const began = Date.now();
      try {
        const { answer, retryAfterMs } = await this.#once(wanted);
        this.#say(wanted, `${answer.status}`, began);
        const again = wanted.isRepeatable && TRY_AGAIN_LATER.has(answer.status);
        if (!again || delay === undefined) return answer;
        await this.#pause(retryAfterMs ?? delay);
      } catch (error) {
        this.#interrupted.throwIfAborted();
        this.#say(wanted, reasonOf(error), began);
        if (error instanceof CliError) throw error;
        const mayRepeat = wanted.isRepeatable || isNeverSent(error);
        if (mayRepeat && delay !== undefined) await this.#pause(delay);
        else throw this.#unanswered(wanted, error, mayRepeat);
      }
    }
  }

  /**
   * Opens an answer that may have no end. It is tried once: the caller knows what it has read.
   *
   * @param wanted.idleMs milliseconds without a byte after which the connection is taken for broken
   * @throws CliError when there is no answer; one with an error status is an answer
   */
  async openStream(wanted: { url: string; headers: Record<string, string>; idleMs: number }): Promise<StreamedAnswer> {
    const { url, headers, idleMs } = wanted;
    const asked: HttpRequest = { method: 'GET', url, headers, isRepeatable: true };
    const began = Date.now();
    const broke = (error: unknown) => {
      this.#interrupted.throwIfAborted();
      if (error instanceof CliError) return error;
      this.#say(asked, reasonOf(error), began);
      return this.#unanswered(asked, error, true);
    };
    const options = { dispatcher: this.#dispatcher, headers, signal: this.#interrupted };
    const response = await request(url, {
      ...options,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: idleMs,
    }).catch((error: unknown) => {
      throw broke(error);
    });
    this.#say(asked, `${response.statusCode}`, began);
    return {
      status: response.statusCode,
      chunks: async function* () {
        try {
          yield* response.body as AsyncIterable<Buffer>;
        } catch (error) {
          throw broke(error);
        }
      },
      readText: () =>
        readText(response.body, { ...asked, maxBytes: REFUSAL_MAX_BYTES }).catch((error: unknown) => {
          throw broke(error);
        }),
    };
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #once(wanted: HttpRequest) {
    const { method, url, headers, body, timeoutMs = ANSWER_TIMEOUT_MS } = wanted;
    return withDeadline(this.#interrupted, timeoutMs, async (signal) => {
      const response = await request(url, {
        dispatcher: this.#dispatcher,
        method,
        headers,
        body: body?.() ?? null,
        signal,
      });
      const text = await readText(response.body, wanted);
      const seconds = Number(response.headers['retry-after']);
      return {
        answer: { status: response.statusCode, text },
        retryAfterMs: seconds > 0 ? Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) : undefined,
      };
    });
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#interrupted }).catch(() => this.#interrupted.throwIfAborted());
  }

  #unanswered({ method, url }: HttpRequest, cause: unknown, wasRepeatable: boolean): CliError {
    const message = `${method} ${withoutQuery(url)} got no answer: ${reasonOf(cause)}.`;
    return wasRepeatable
      ? new CliError(message, ExitCode.unreachable, { cause })
      : new UnknownOutcomeError(message, ExitCode.unreachable, { cause });
  }

  #say({ method, url }: HttpRequest, outcome: string, began: number): void {
    this.#trace(`${method} ${withoutQuery(url)} ${outcome} (${Date.now() - began} ms)`);
  }
}

/** @throws CliError for an answer that is too long */
async function readText(
  body: AsyncIterable<Buffer>,
  { method, url, maxBytes = ANSWER_MAX_BYTES }: HttpRequest,
): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new CliError(`${method} ${withoutQuery(url)} was answered with more than ${maxBytes} bytes.`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Removes the query: signed URLs carry their proof in it, which must not reach screens and logs. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*$/s, '');
}

function isNeverSent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    code,
  );
}
