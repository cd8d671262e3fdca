import { UnavailableError } from '@runyard/service-kit';

/** Returns the error for a request in whose context the project did not encrypt. It is asked again by then. */
export function encryptionUnavailableError(cause: unknown): UnavailableError {
  return new UnavailableError('The project’s encryption is not available', {
    code: 'encryption_unavailable',
    cause,
    retryAfterSeconds: 5,
  });
}
