import type { SealingError } from '@runyard/sealing';
import { UnavailableError } from '@runyard/service-kit';

/** A deployment has its keys with a revision: sooner it will not have others. */
const RETRY_AFTER_SECONDS = 30;

/** What cannot be decrypted here, asked for by itself: another process may have the key, or this one after its next start. */
export function unreadableError(error: Error): UnavailableError {
  return new UnavailableError(error.message, { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** What stands for it in a list, where the others are to be seen all the same. */
export function unreadableValue({ name, message }: SealingError): { __error__: { error: string; message: string } } {
  return { __error__: { error: name, message } };
}
