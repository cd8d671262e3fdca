import { BackendError } from '@runyard/checkpointer';
import { sqlState } from '@runyard/database';
import { EncryptionError, EncryptionUnavailableError, JsonTooDeepError } from '@runyard/encryption';
import {
  type AppError,
  BadGatewayError,
  type BoundOperation,
  NotFoundError,
  PayloadTooLargeError,
  sanitizeErrorText,
  UnprocessableError,
} from '@runyard/service-kit';
import { encryptionUnavailableError } from './encryption-unavailable.ts';
import { undecryptableError } from './undecryptable.ts';

/**
 * Middleware that maps failures of an operation to clear errors: valid JSON that the stack or the database cannot take,
 * stored data that cannot be decrypted, and data that the project did not encrypt.
 */
export function mapInvalidData({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: (request) =>
      handler(request).catch((error: unknown) => {
        throw refusalOf(error) ?? error;
      }),
  };
}

/** SQLSTATEs of an invalid date, a time out of range, and an invalid offset. */
const TIME_STATES: ReadonlySet<string> = new Set(['22007', '22008', '22009']);
/** SQLSTATE "statement too complex": JSON deeper than Postgres parses. */
const TOO_DEEP_STATE = '54001';

function refusalOf(error: unknown): AppError | undefined {
  const state = sqlState(error);
  if (isStackOverflow(error) || error instanceof JsonTooDeepError || state === TOO_DEEP_STATE) {
    return new UnprocessableError('The request is nested too deeply', { cause: error });
  }
  if (state !== undefined && TIME_STATES.has(state)) {
    return new UnprocessableError('A date or time of the request is out of range', { cause: error });
  }
  if (error instanceof EncryptionError) return undecryptableError(error);
  if (error instanceof EncryptionUnavailableError) return encryptionUnavailableError(error);
  if (!(error instanceof BackendError)) return undefined;
  if (error.reason === 'too_large')
    return new PayloadTooLargeError(error.message, { code: 'state_too_large', cause: error });
  if (error.reason === 'not_found') return new NotFoundError(error.message, { cause: error });
  if (error.reason === 'embedding_failed') {
    return new BadGatewayError(sanitizeErrorText(error.message), { code: 'embedding_failed', cause: error });
  }
  if (error.reason === 'unreadable') return undecryptableError(error);
  if (error.reason === 'encryption_failed') return encryptionUnavailableError(error);
  if (error.reason === 'invalid') return new UnprocessableError(error.message, { cause: error });
  return undefined;
}

/** Returns whether JSON was too deep for the stack: `JSON.stringify` calls itself once per level. */
function isStackOverflow(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof RangeError && current.message === 'Maximum call stack size exceeded') return true;
  }
  return false;
}
