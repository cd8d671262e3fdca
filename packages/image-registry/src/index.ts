export { DIGEST, digestOf, digestOfStream } from './digest.ts';
export { type ImageReference, originOf, parseImageReference } from './image-reference.ts';
export { ImageRepository, RegistryRefusedError } from './image-repository.ts';
export { MANIFEST_LIMIT_BYTES } from './manifest-limit.ts';
export {
  type Place,
  PROJECT_REPOSITORY,
  pathOf,
  REGISTRY_SEGMENT,
  REGISTRY_USER,
  RegistryAddress,
  type RegistryResource,
  repositoryName,
  resourceAt,
} from './registry-address.ts';
export { RegistryService } from './registry-service.ts';
export { type HeldGrant, type RegistryGrant, RegistryTokens } from './registry-tokens.ts';
export { RegistryUnavailableError } from './registry-unavailable-error.ts';
