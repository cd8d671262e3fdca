import { ImageRemoval, StoredBytes, type StoredBytesRequest } from '@runyard/contracts';
import { RegistryUnavailableError } from '@runyard/image-registry';
import { InternalClient, InternalTokenRefusedError } from '@runyard/service-kit';

const QUESTION_TIMEOUT_MS = 3_000;
/** A bucket may have many objects of one deployment. What is left is removed by the next attempt. */
const REMOVAL_TIMEOUT_MS = 60_000;

/** Asks the registry for what image tools have no requests for. */
export class RegistryService {
  readonly #client: (timeoutMs: number) => InternalClient;

  constructor({ url, internalToken }: { url: string; internalToken: string }) {
    this.#client = (timeoutMs) => new InternalClient({ service: 'registry', url, internalToken, timeoutMs });
  }

  /** Removes all images of a deployment that is being deleted. @throws RegistryUnavailableError */
  async removeImages(deploymentId: string): Promise<void> {
    const question = { deployment_id: deploymentId };
    await this.#client(REMOVAL_TIMEOUT_MS)
      .ask('/internal/images/remove', question, ImageRemoval)
      .catch(reportUnavailable);
  }

  /** Returns the bytes that images take. @throws RegistryUnavailableError */
  count(question: StoredBytesRequest): Promise<StoredBytes> {
    return this.#client(QUESTION_TIMEOUT_MS)
      .ask('/internal/images/stored-bytes', question, StoredBytes)
      .catch(reportUnavailable);
  }
}

function reportUnavailable(cause: unknown): never {
  if (cause instanceof InternalTokenRefusedError) throw cause;
  throw new RegistryUnavailableError(cause);
}
