import { INTERNAL_AUTHORIZATION_SCHEME, validatorOf } from '@runyard/contracts';
import type { Static, TSchema } from 'typebox';

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
   */
  async ask<const Schema extends TSchema>(path: string, question: object, schema: Schema): Promise<Static<Schema>> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: {
        authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    const content = await response.json();
    if (response.status === 401) throw new InternalTokenRefusedError(this.#service);
    const answer = validatorOf(schema)(content);
    if (!response.ok || !answer.ok) throw new Error(`${this.#service} answers ${response.status}`);
    return answer.value;
  }
}
