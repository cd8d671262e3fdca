import type { PullCredential } from '../drivers/container/image.ts';
import type { Registry } from './registry.ts';
import { REGISTRY_USER } from './registry-address.ts';

/**
 * What is needed to pull an image of a deployment, good for so long: of the platform's own registry a token for that deployment
 * alone, of any other registry nothing that is known here.
 *
 * @param registry undefined: where deployments run that have no images there
 */
export function pullCredentials(registry: Pick<Registry, 'address' | 'tokens'> | undefined, lifetimeMs: number) {
  return (deploymentId: string, imageUri: string): PullCredential | undefined =>
    registry?.address.holds(imageUri)
      ? {
          host: registry.address.host,
          username: REGISTRY_USER,
          password: registry.tokens.issue({ deploymentId, mayPush: false }, lifetimeMs),
        }
      : undefined;
}
