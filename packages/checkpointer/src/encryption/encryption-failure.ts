import {
  EncryptionError,
  EncryptionUnavailableError,
  JsonTooDeepError,
  KeyUnavailableError,
} from '@runyard/encryption';
import { BackendError } from '../backend.ts';

/** Maps failures of encryption to errors of a backend. Any other error is unchanged. */
export function mapEncryptionFailure(error: unknown): unknown {
  if (error instanceof EncryptionError) return new BackendError('unreadable', error.message, { cause: error });
  if (error instanceof EncryptionUnavailableError) {
    return new BackendError('encryption_failed', error.message, { cause: error });
  }
  if (error instanceof JsonTooDeepError) return new BackendError('too_large', error.message, { cause: error });
  return error;
}

/** Returns the id of the key that is not to be had; undefined when data is undecryptable for another reason. */
export function missingKeyOf({ cause }: BackendError): string | undefined {
  return cause instanceof KeyUnavailableError ? cause.keyId : undefined;
}
