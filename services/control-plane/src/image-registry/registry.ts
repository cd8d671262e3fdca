import type { RegistryAddress, RegistryTokens } from '@runyard/image-registry';

/** Names images of the platform's registry, and lets somebody push or pull them. */
export interface Registry {
  address: RegistryAddress;
  tokens: RegistryTokens;
}
