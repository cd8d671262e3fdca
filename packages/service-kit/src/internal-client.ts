import { INTERNAL_AUTHORIZATION_SCHEME, validatorOf } from '@runyard/contracts';
import type { Static, TSchema } from 'typebox';
import { UnavailableError } from './errors.ts';

/** The other service has another `INTERNAL_TOKEN`: it refuses every question until an operator changes one of the two. */
export class InternalTokenRefusedError extends Error {
  override readonly name = 'InternalTokenRefusedError';

  /** @param service the name of the service that was asked */
  constructor(service: string) {
    super(`${service} refuses the INTERNAL_TOKEN of this service`);
  }
}

/** Asks another service of the platform by its internal operations. */
export class InternalClient {
  readonly #service: string;
  readonly #url: string;
  readonly #token: string;
  readonly #timeoutMs: number;

  /** @param options.service the name of the service in errors */
  constructor(options: { service: string; url: string; internalToken: string; timeoutMs: number }) {
    this.#service = options.service;
    this.#url = options.url.replace(/(?<!\/)\/+$/, '');
    this.#token = options.internalToken;
    this.#timeoutMs = options.timeoutMs;
  }

  /**
   * @throws InternalTokenRefusedError; any other Error when the service cannot be reached, or answers with an error or
   * something else than `schema`
   *
   * @param question null for a GET
   */
  async ask<const Schema extends TSchema>(
    path: string,
    question: object | null,
    schema: Schema,
  ): Promise<Static<Schema>> {
    const { status, body } = await this.request(path, question);
    if (status === 401) throw new InternalTokenRefusedError(this.#service);
    const answer = validatorOf(schema)(body);
    if (status < 200 || status > 299 || !answer.ok) throw new Error(`${this.#service} answers ${status}`);
    return answer.value;
  }

  /**
   * Returns the answer, whatever its status.
   *
   * @param question null for a GET
   * @throws Error when the service cannot be reached, or answers with something else than JSON
   */
  async request(path: string, question: object | null): Promise<{ status: number; body: unknown }> {
    const response = await fetch(this.#url + path, {
      method: question ? 'POST' : 'GET',
      headers: {
        authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
        'content-type': 'application/json',
      },
      body: question && JSON.stringify(question),
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    const { status } = response;
    const text = await response.text();
    try {
      return { status, body: JSON.parse(text) };
    } catch (cause) {
      const told = `${this.#service} answers ${status} with ${text.length} characters that are no JSON`;
      throw new Error(told, { cause });
    }
  }
}

/**
 * Returns what was asked of another service, or the error for callers that cannot be answered without it.
 *
 * @param message for the caller
 * @throws UnavailableError
 */
export async function orUnavailable<Answer>(
  asked: Promise<Answer>,
  message: string,
  context: Omit<ConstructorParameters<typeof UnavailableError>[1], 'cause'>,
): Promise<Answer> {
  try {
    return await asked;
  } catch (cause) {
    throw new UnavailableError(message, { ...context, cause });
  }
}
