import { REGISTRY_USER } from '../images/registry-address.ts';
import type { PullCredentialFactory } from '../revisions/pull-credential.ts';
import type { Registry } from './registry.ts';

/**
 * Issues a deployment's token for images of the platform's own registry. Credentials for other registries are not known
 * here.
 */
export function issuePullCredentials({ address, tokens }: Pick<Registry, 'address' | 'tokens'>): PullCredentialFactory {
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
