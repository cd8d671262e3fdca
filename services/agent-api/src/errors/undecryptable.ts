import { UnavailableError } from '@runyard/service-kit';

/** A deployment gets its keys with a revision: it has no others sooner. */
const RETRY_AFTER_SECONDS = 30;

/**
 * Returns the error for a single undecryptable item: another process may have the key, or this one after its next
 * start.
 */
export function undecryptableError(error: Error): UnavailableError {
  return new UnavailableError(error.message, {
    code: 'data_undecryptable',
    cause: error,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
