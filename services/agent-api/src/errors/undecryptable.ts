import type { EncryptionError } from '@runyard/encryption';
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

/** Returns what stands for an undecryptable item in a list, so that the others are still shown. */
export function undecryptableValue({ name, message }: EncryptionError): {
  __error__: { error: string; message: string };
} {
  return { __error__: { error: name, message } };
}
