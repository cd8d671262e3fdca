import type { PullToken, PullTokenRequest } from '@runyard/contracts';
import { REGISTRY_USER } from '@runyard/image-registry';
import { NotFoundError } from '@runyard/service-kit';
import type { Registry } from '../image-registry/registry.ts';
import { requireOwn, type Speaker } from './speaker.ts';

/** Issues tokens with which data planes pull the images of their deployments from the platform's registry. */
export class PullTokenIssuer {
  readonly #registry: Pick<Registry, 'address' | 'tokens'>;

  constructor(registry: Pick<Registry, 'address' | 'tokens'>) {
    this.#registry = registry;
  }

  /** @throws NotFoundError for a deployment that is not its own, and for an image of another deployment */
  async issue(
    speaker: Speaker,
    deploymentId: string,
    { epoch, image_uri: imageUri, lifetime_seconds: seconds }: PullTokenRequest,
  ): Promise<PullToken> {
    await speaker.runAsOwner(epoch, (transaction, own) =>
      requireOwn(transaction, { ...own, id: deploymentId, deleteRequestedAt: null }),
    );
    const { address, tokens } = this.#registry;
    const name = address.repositoryWithin(deploymentId, imageUri);
    if (name === undefined) throw new NotFoundError(`Image ${imageUri} not found.`);
    const expiresAt = new Date(Date.now() + seconds * 1000);
    return {
      registry_host: address.host,
      username: REGISTRY_USER,
      token: tokens.issue({ deploymentId, name, mayPush: false }, seconds * 1000),
      expires_at: expiresAt.toISOString(),
    };
  }
}
