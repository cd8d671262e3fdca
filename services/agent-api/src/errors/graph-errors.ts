import { GraphRequestError } from '@runyard/host-protocol';
import { FencedError } from '@runyard/run-engine';
import {
  type AppError,
  BadRequestError,
  ConflictError,
  type ErrorContext,
  NotFoundError,
  PayloadTooLargeError,
  sanitizeErrorText,
  UnavailableError,
  UnprocessableError,
} from '@runyard/service-kit';
import { encryptionUnavailableError } from './encryption-unavailable.ts';
import { undecryptableError } from './undecryptable.ts';

type MakeError = (message: string, context: ErrorContext) => AppError;

const ERRORS_BY_REASON: Record<string, MakeError> = {
  bad_request: (message, context) => new BadRequestError(message, context),
  not_found: (message, context) => new NotFoundError(message, context),
  fenced: (message, context) => new ConflictError(message, { ...context, code: 'thread_taken_over' }),
  too_large: (message, context) => new PayloadTooLargeError(message, { ...context, code: 'state_too_large' }),
  unavailable: (message, context) => new UnavailableError(message, { ...context, code: 'state_unavailable' }),
  invalid: (message, context) => new UnprocessableError(message, context),
  failed: (message, context) => new UnprocessableError(message, { ...context, code: 'graph_failed' }),
};

/**
 * Maps a graph host's refusal, and the loss of a thread to a run, to the caller's error; any other error is unchanged.
 */
export function toCallerError(error: unknown): unknown {
  if (error instanceof FencedError) {
    return new ConflictError('The thread was taken over while its state was being written.', {
      code: 'thread_taken_over',
      cause: error,
    });
  }
  if (!(error instanceof GraphRequestError)) return error;
  if (error.reason === 'unreadable') return undecryptableError(error);
  if (error.reason === 'encryption_failed') return encryptionUnavailableError(error);
  const makeError = ERRORS_BY_REASON[error.reason];
  if (!makeError) return error;
  const text = error.reason === 'failed' ? `${error.name}: ${error.message}` : error.message;
  return makeError(sanitizeErrorText(text), { cause: error });
}
