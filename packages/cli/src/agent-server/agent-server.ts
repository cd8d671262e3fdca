import { createHash } from 'node:crypto';
import { CliError, ExitCode } from '../cli-error.ts';
import type { Http, HttpAnswer } from '../connection/http.ts';
import { detailOf } from '../connection/refusals.ts';
import { readEvents, type ServerSentEvent } from './event-stream.ts';
import { parseExactly } from './exact-json.ts';
import { isObject } from './json.ts';

/** Milliseconds for one request: the state of a long thread is written by a single one. */
const ANSWER_TIMEOUT_MS = 120_000;
/** Milliseconds without a byte after which a stream is taken for broken: servers send a heartbeat every few seconds. */
const STREAM_IDLE_MS = 60_000;
const PAGE = 100;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An answer with an error status. */
export class ServerRefusedError extends CliError {
  readonly status: number;

  constructor(what: string, { status, text }: HttpAnswer) {
    super(`${what} was refused (${status}): ${detailOf(text)}`, exitCodeOf(status));
    this.status = status;
  }

  /** True when the server has no such operation, as some have no crons. */
  get isMissingOperation(): boolean {
    return [404, 405, 501].includes(this.status) || (this.status === 500 && /not implemented/i.test(this.message));
  }
}

/** Calls a server of the agent server API, whoever made it. */
export class AgentServer {
  readonly url: string;
  readonly #http: Http;
  readonly #headers: Record<string, string>;
  readonly #parse: (text: string, what: string) => unknown;

  /** @param options.parse reads answers; by default it refuses numbers that it cannot read exactly */
  constructor(options: {
    http: Http;
    url: string;
    headers: Record<string, string>;
    parse?: (text: string, what: string) => unknown;
  }) {
    this.url = new URL(options.url).href.replace(/(?<!\/)\/+$/, '');
    this.#http = options.http;
    this.#headers = options.headers;
    this.#parse = options.parse ?? parseExactly;
  }

  /**
   * Every request may be repeated unless the caller says otherwise: ids are the caller's, so a second one changes
   * nothing. @throws ServerRefusedError, CliError when there is no answer
   */
  async call<T>(method: Method, path: string, body?: unknown, options: { isRepeatable?: boolean } = {}): Promise<T> {
    const text = await this.#send(method, path, body, options);
    return (text === '' ? undefined : this.#parse(text, this.#nameOf(method, path))) as T;
  }

  async #send(method: Method, path: string, body?: unknown, options: { isRepeatable?: boolean } = {}): Promise<string> {
    const url = this.#urlOf(method, path);
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.#http.send({
      method,
      url,
      headers: {
        ...this.#headers,
        accept: 'application/json',
        ...(text !== undefined && { 'content-type': 'application/json' }),
      },
      ...(text !== undefined && { body: () => text }),
      isRepeatable: options.isRepeatable ?? true,
      timeoutMs: ANSWER_TIMEOUT_MS,
    });
    const isFine = answer.status >= 200 && answer.status <= 299;
    if (!isFine) throw new ServerRefusedError(this.#nameOf(method, path), answer);
    return answer.text;
  }

  /** Asks a search for so many rows at most. @throws CliError as {@link search} */
  async *searchUpTo<T>(count: number, path: string, body: Record<string, unknown>): AsyncGenerator<T> {
    let left = count;
    const pages = this.search<T>(path, body, undefined, Math.min(count, PAGE));
    for await (const page of pages) {
      for (const row of page) {
        yield row;
        left -= 1;
        if (left === 0) return;
      }
    }
  }

  /**
   * Reads the events of a stream until it ends or breaks.
   *
   * @param lastEventId the position that it goes on after; undefined for what comes from now on
   * @param onOpen is called when the server has answered
   * @throws ServerRefusedError, CliError when the connection breaks
   */
  async *events(path: string, lastEventId: string | undefined, onOpen?: () => void): AsyncGenerator<ServerSentEvent> {
    const what = this.#nameOf('GET', path);
    const headers = {
      ...this.#headers,
      accept: 'text/event-stream',
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const answer = await this.#http.openStream({
      url: this.#urlOf('GET', path),
      headers,
      idleMs: STREAM_IDLE_MS,
    });
    const { status } = answer;
    if (status < 200 || status > 299) throw new ServerRefusedError(what, { status, text: await answer.readText() });
    onOpen?.();
    yield* readEvents(answer.chunks(), what);
  }

  /** @throws CliError for a path that leads elsewhere */
  #urlOf(method: Method, path: string): string {
    const url = this.url + path;
    // The parser resolves `..`: a path that has one may lead to what is beside the agent server.
    if (new URL(url).href !== url)
      throw new CliError(`${this.#nameOf(method, path)} leads elsewhere: it was not sent.`);
    return url;
  }

  #nameOf(method: Method, path: string): string {
    return `${method} ${path.replace(/\?.*$/s, '')} of ${this.url}`;
  }

  /** Returns undefined where there is no such thing. */
  async find<T>(path: string): Promise<T | undefined> {
    try {
      return await this.call<T>('GET', path);
    } catch (error) {
      if (error instanceof ServerRefusedError && error.status === 404) return undefined;
      throw error;
    }
  }

  /**
   * Asks a search for one page after the other. A page may be shorter than asked for, and an empty one is the last.
   *
   * @throws CliError for a page that was there already: such a server would never end
   */
  async *search<T>(
    path: string,
    body: Record<string, unknown>,
    rowsOf: (answer: unknown) => unknown = (answer) => answer,
    limit: number = PAGE,
  ): AsyncGenerator<T[]> {
    const what = this.#nameOf('POST', path);
    const seen = new Set<string>();
    for (let offset = 0; ; ) {
      const text = await this.#send('POST', path, { ...body, limit, offset });
      const rows: unknown = rowsOf(this.#parse(text, what));
      if (!Array.isArray(rows) || !rows.every(isObject)) throw new CliError(`${what} was not answered with a list.`);
      if (rows.length === 0) return;
      const hash = createHash('sha256').update(text).digest('base64');
      if (seen.has(hash)) throw new CliError(`${what} answers the same page again: the server does not take offset.`);
      seen.add(hash);
      yield rows as T[];
      offset += rows.length;
    }
  }
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return ExitCode.denied;
  return status >= 502 && status <= 504 ? ExitCode.unreachable : ExitCode.failed;
}
