import type { GivesCredentials } from '../drivers/pull-credential.ts';
import type { Registry } from './registry.ts';
import { REGISTRY_USER } from './registry-address.ts';

/** For images of the platform's own registry a token of their deployment alone; of any other registry nothing is known here. */
export function pullCredentials({ address, tokens }: Pick<Registry, 'address' | 'tokens'>): GivesCredentials {
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
