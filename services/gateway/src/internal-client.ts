import { INTERNAL_AUTHORIZATION_SCHEME, validatorOf } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import type { Static, TSchema } from 'typebox';
import type { Dispatcher } from 'undici';

/** Sends the gateway's own calls to one of the platform's services. */
export class InternalClient {
  readonly #dispatcher: Dispatcher;
  readonly #base: URL;
  readonly #token: string;
  readonly #timeoutMs: number;

  constructor(options: { dispatcher: Dispatcher; baseUrl: string; token: string; timeoutMs?: number }) {
    this.#dispatcher = options.dispatcher;
    this.#base = new URL(options.baseUrl);
    this.#token = options.token;
    this.#timeoutMs = options.timeoutMs ?? 3_000;
  }

  /** Resolves or rejects within twice the time limit, also where many calls wait for a connection. */
  async call(method: 'GET' | 'POST', path: string, body?: unknown, signal?: AbortSignal): Promise<InternalAnswer> {
    return withDeadline(signal, 2 * this.#timeoutMs, async (limited) => {
      const response = await this.#dispatcher.request({
        origin: this.#base.origin,
        path: this.#base.pathname.replace(/\/$/, '') + path,
        method,
        headers: {
          authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        headersTimeout: this.#timeoutMs,
        bodyTimeout: this.#timeoutMs,
        signal: limited,
      });
      return { status: response.statusCode, body: await readJson(response.body) };
    });
  }
}

export interface InternalAnswer {
  status: number;
  body: unknown;
}

/** @throws when the answer does not match the contract. */
export function parseInternalAnswer<T extends TSchema>(schema: T, answer: InternalAnswer): Static<T> {
  if (answer.status !== 200) throw new Error(`unexpected status ${answer.status}`);
  const result = validatorOf(schema)(answer.body);
  if (!result.ok) throw new Error('the answer does not have the shape of the contract');
  return result.value;
}

async function readJson(body: { text(): Promise<string> }): Promise<unknown> {
  const text = await body.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
