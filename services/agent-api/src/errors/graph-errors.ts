import { GraphRequestError } from '@runyard/graph-host';
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
import { undecryptableError } from './undecryptable.ts';

type Kind = new (message: string, context: ErrorContext) => AppError;

const KINDS: Record<string, Kind> = {
  bad_request: BadRequestError,
  not_found: NotFoundError,
  fenced: ConflictError,
  too_large: PayloadTooLargeError,
  unavailable: UnavailableError,
  invalid: UnprocessableError,
  failed: UnprocessableError,
};

/**
 * Maps a graph host's refusal, and the loss of a thread to a run, to the caller's error; any other error is unchanged.
 */
export function toCallerError(error: unknown): unknown {
  if (error instanceof FencedError) {
    return new ConflictError('The thread was taken over while its state was being written.', { cause: error });
  }
  if (!(error instanceof GraphRequestError)) return error;
  if (error.reason === 'unreadable') return undecryptableError(error);
  const Refusal = KINDS[error.reason];
  if (!Refusal) return error;
  const text = error.reason === 'failed' ? `${error.name}: ${error.message}` : error.message;
  return new Refusal(sanitizeErrorText(text), { cause: error });
}
