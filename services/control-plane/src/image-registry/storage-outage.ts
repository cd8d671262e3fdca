import { RegistryUnavailableError } from '@runyard/image-registry';
import { ObjectStorageUnavailableError } from '@runyard/object-storage';

/** Returns whether work that stores or reads something may succeed later: its storage or the registry is unavailable. */
export function isStorageOutage(error: unknown): error is ObjectStorageUnavailableError | RegistryUnavailableError {
  return error instanceof ObjectStorageUnavailableError || error instanceof RegistryUnavailableError;
}
