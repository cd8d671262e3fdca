import { TooManyPushConfigsError } from '@runyard/run-engine';
import { BadRequestError, ConflictError, UnprocessableError } from '@runyard/service-kit';
import { A2aError } from '../protocol/a2a-error.ts';

/** Returns an error of the services in the terms of A2A; undefined for those that are HTTP's matter, and unforeseen ones. */
export function toA2aError(error: unknown): A2aError | undefined {
  if (error instanceof A2aError) return error;
  if (error instanceof UnprocessableError || error instanceof BadRequestError) {
    return new A2aError('INVALID_PARAMS', error.message);
  }
  if (error instanceof ConflictError || error instanceof TooManyPushConfigsError)
    return new A2aError('UNSUPPORTED_OPERATION', error.message);
  return undefined;
}
