import { ObjectStorageUnavailableError } from '@runyard/object-storage';
import { UnavailableError } from '@runyard/service-kit';

/** The registry is unavailable or overloaded: the same request may succeed later. */
export class RegistryUnavailableError extends UnavailableError {
  constructor(cause: unknown) {
    super('The registry could not be reached', { code: 'registry_unavailable', cause });
  }
}

/** Returns whether work that stores or reads something may succeed later: its storage or the registry is unavailable. */
export function isStorageOutage(error: unknown): error is ObjectStorageUnavailableError | RegistryUnavailableError {
  return error instanceof ObjectStorageUnavailableError || error instanceof RegistryUnavailableError;
}
