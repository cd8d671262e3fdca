import {
  ImageRemoval,
  INTERNAL_AUTHORIZATION_SCHEME,
  StoredBytes,
  type StoredBytesRequest,
  validatorOf,
} from '@runyard/contracts';
import { InternalTokenRefusedError } from '@runyard/service-kit';
import type { Static, TSchema } from 'typebox';
import { request } from 'undici';
import { RegistryUnavailableError } from './registry-unavailable-error.ts';

const QUESTION_TIMEOUT_MS = 3_000;
/** A bucket may have many objects of one deployment. What is left is removed by the next attempt. */
const REMOVAL_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 30_000;

/** Asks the registry for what image tools have no requests for. */
export class RegistryService {
  readonly #url: string;
  readonly #token: string;

  constructor({ url, internalToken }: { url: string; internalToken: string }) {
    this.#url = url.replace(/(?<!\/)\/+$/, '');
    this.#token = internalToken;
  }

  /** Removes all images of a deployment that is being deleted. @throws RegistryUnavailableError */
  async removeImages(deploymentId: string): Promise<void> {
    await this.ask('/internal/images/remove', { deployment_id: deploymentId }, ImageRemoval);
  }

  /** Returns the bytes that images take. @throws RegistryUnavailableError */
  count(question: StoredBytesRequest): Promise<StoredBytes> {
    return this.#send('/internal/images/stored-bytes', question, StoredBytes, { timeoutMs: QUESTION_TIMEOUT_MS });
  }

  /** @throws RegistryUnavailableError while it cannot store anything; the signal's reason */
  async checkAvailable(signal: AbortSignal): Promise<void> {
    await reportUnavailable(signal, async () => {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(READY_TIMEOUT_MS)]);
      const answer = await request(`${this.#url}/ok?check_db=1`, { signal: limited });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`it answers ${answer.statusCode}`);
    });
  }

  /**
   * @param signal ends what the registry does for it, too; default: after a minute
   * @throws RegistryUnavailableError; InternalTokenRefusedError; the signal's reason
   */
  ask<const Schema extends TSchema>(
    path: string,
    question: object,
    schema: Schema,
    signal?: AbortSignal,
  ): Promise<Static<Schema>> {
    return this.#send(path, question, schema, signal ? { signal } : { timeoutMs: REMOVAL_TIMEOUT_MS });
  }

  #send<const Schema extends TSchema>(
    path: string,
    question: object,
    schema: Schema,
    { signal, timeoutMs }: { signal?: AbortSignal; timeoutMs?: number },
  ): Promise<Static<Schema>> {
    return reportUnavailable(signal, async () => {
      const { statusCode, body } = await request(this.#url + path, {
        method: 'POST',
        headers: {
          authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(question),
        signal: signal ?? AbortSignal.timeout(timeoutMs!),
        // The layers of a base image may take longer than any usual request.
        headersTimeout: 0,
      });
      const content = await body.json();
      if (statusCode === 401) throw new InternalTokenRefusedError('registry');
      const answer = validatorOf(schema)(content);
      if (statusCode !== 200 || !answer.ok) throw new Error(`registry answers ${statusCode}`);
      return answer.value;
    });
  }
}

async function reportUnavailable<Answer>(
  signal: AbortSignal | undefined,
  asking: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await asking();
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof InternalTokenRefusedError) throw cause;
    throw new RegistryUnavailableError(cause);
  }
}
