import { UnavailableError } from '@runyard/service-kit';

/** The registry is unavailable or overloaded: the same request may succeed later. */
export class RegistryUnavailableError extends UnavailableError {
  constructor(cause: unknown) {
    super('The registry could not be reached', { code: 'registry_unavailable', cause });
  }
}
