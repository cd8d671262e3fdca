import { INTERNAL_AUTHORIZATION_SCHEME, validatorOf } from '@runyard/contracts';
import type { Static, TSchema } from 'typebox';

/** org-access answers within milliseconds or not at all. */
const TIMEOUT_MS = 3_000;

/** Asks org-access by its internal operations. */
export class OrgAccessClient {
  readonly #url: string;
  readonly #token: string;

  constructor(options: { url: string; internalToken: string }) {
    this.#url = options.url.replace(/\/+$/, '');
    this.#token = options.internalToken;
  }

  /** @throws Error when org-access cannot be reached, or answers with an error or something else than `schema` */
  async ask<const Schema extends TSchema>(path: string, question: object, schema: Schema): Promise<Static<Schema>> {
    const response = await fetch(this.#url + path, {
      method: 'POST',
      headers: {
        authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(question),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const answer = validatorOf(schema)(await response.json());
    if (!response.ok || !answer.ok) throw new Error(`org-access answers ${response.status}`);
    return answer.value;
  }
}
