import { type DesiredRevision, PULL_TOKEN_SECONDS_MAX } from '@runyard/contracts';
import { RevisionStartError } from '@runyard/deployments';
import type { Logger } from '@runyard/service-kit';
import pRetry from 'p-retry';
import type { FindPullCredential, PullCredential, PullCredentialFactory } from '../drivers/pull-credential.ts';
import { type ControlPlaneClient, ControlPlaneRefusedError } from '../link/control-plane-client.ts';
import type { ControlPlaneLink } from '../link/control-plane-link.ts';
import type { StateFile } from '../state/state-file.ts';

export interface PullTokenClientOptions {
  stateFile: StateFile;
  client: Pick<ControlPlaneClient, 'pullToken'>;
  link: Pick<ControlPlaneLink, 'sendOnce'>;
  logger: Logger;
}

/** A starting revision waits for its token as long as its start may take. */
const RETRIES = { retries: Number.POSITIVE_INFINITY, minTimeout: 500, maxTimeout: 5_000 };

interface TokenRequest {
  deploymentId: string;
  imageUri: string;
  seconds: number;
}

/**
 * Obtains credentials for images in the platform's registry, with a request for each use. The last credential is stored
 * for times when the platform is unreachable, so that a revision can start again after a restart. A new revision waits
 * for a credential of its own: an image of that name on this machine may be older or incomplete.
 */
export class PullTokenClient {
  readonly #options: PullTokenClientOptions;

  constructor(options: PullTokenClientOptions) {
    this.#options = options;
  }

  readonly openCredentials: PullCredentialFactory =
    (lifetimeMs): FindPullCredential =>
    async ({ deploymentId, revisionId }, imageUri, signal) => {
      if (!this.#imagesOf(deploymentId).includes(imageUri)) return undefined;
      const seconds = Math.min(Math.floor(lifetimeMs / 1000), PULL_TOKEN_SECONDS_MAX);
      const wanted = { deploymentId, imageUri, seconds };
      const former = this.#hasRun(deploymentId, revisionId)
        ? this.#options.stateFile.localStateOf(deploymentId).pulledWith?.[imageUri]
        : undefined;
      return former ? this.#requestOrReuse(former, wanted) : this.#requestUntilGiven(wanted, signal);
    };

  async #requestOrReuse(former: PullCredential, wanted: TokenRequest): Promise<PullCredential> {
    try {
      return await this.#request(wanted);
    } catch (error) {
      if (isFinal(error)) throw toStartFailure(wanted, error);
      this.#options.logger.warn('pull token request failed, using an earlier one', {
        deploymentId: wanted.deploymentId,
        error,
      });
      return { ...former, isEarlier: true };
    }
  }

  async #requestUntilGiven(wanted: TokenRequest, signal: AbortSignal): Promise<PullCredential> {
    try {
      return await pRetry(() => this.#request(wanted), {
        ...RETRIES,
        signal,
        shouldRetry: ({ error }) => !isFinal(error),
      });
    } catch (error) {
      if (isFinal(error)) throw toStartFailure(wanted, error);
      if (!signal.aborted) throw error;
      throw new RevisionStartError(`the platform gave no token for the image ${wanted.imageUri} in time`, {
        cause: error,
      });
    }
  }

  async #request({ deploymentId, imageUri, seconds }: TokenRequest): Promise<PullCredential> {
    const { client, link } = this.#options;
    const request = { image_uri: imageUri, lifetime_seconds: seconds };
    const given = await link.sendOnce((epoch, signal) => client.pullToken(deploymentId, { epoch, ...request }, signal));
    const credential = { host: given.registry_host, username: given.username, password: given.token };
    await this.#store(deploymentId, imageUri, credential);
    return credential;
  }

  async #store(deploymentId: string, imageUri: string, credential: PullCredential): Promise<void> {
    const { stateFile } = this.#options;
    const own = stateFile.localStateOf(deploymentId);
    const images = this.#imagesOf(deploymentId);
    const others = Object.entries(own.pulledWith ?? {}).filter(([uri]) => images.includes(uri));
    own.pulledWith = { ...Object.fromEntries(others), [imageUri]: credential };
    await stateFile.save();
  }

  #hasRun(deploymentId: string, revisionId: string): boolean {
    return this.#revisionsOf(deploymentId).some(({ id, status }) => id === revisionId && status === 'DEPLOYED');
  }

  /** Returns the deployment's images in the platform's registry. */
  #imagesOf(deploymentId: string): string[] {
    return this.#revisionsOf(deploymentId).flatMap(({ image }) => image?.uri ?? []);
  }

  #revisionsOf(deploymentId: string): DesiredRevision[] {
    return this.#options.stateFile.state.deployments.find(({ id }) => id === deploymentId)?.revisions ?? [];
  }
}

/** Returns whether the deployment, or the image in it, does not exist. */
function isFinal(error: unknown): error is ControlPlaneRefusedError {
  return error instanceof ControlPlaneRefusedError && error.status === 404;
}

function toStartFailure({ imageUri }: TokenRequest, cause: ControlPlaneRefusedError): RevisionStartError {
  return new RevisionStartError(`the platform gives no token for the image ${imageUri}: ${cause.message}`, { cause });
}
