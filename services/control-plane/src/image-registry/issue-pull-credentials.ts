import { REGISTRY_USER } from '@runyard/image-registry';
import type { PullCredentialFactory } from '../revisions/pull-credential.ts';
import type { Registry } from './registry.ts';

/**
 * Issues a deployment's token for images of the platform's own registry. Credentials for other registries are not known
 * here.
 */
export function issuePullCredentials({ address, tokens }: Registry): PullCredentialFactory {
  return (lifetimeMs) =>
    async ({ deploymentId }, imageUri) =>
      address.holds(imageUri)
        ? {
            host: address.host,
            username: REGISTRY_USER,
            password: tokens.issue({ deploymentId, mayPush: false }, lifetimeMs),
          }
        : undefined;
}
