import { type BoundOperation, UnavailableError } from '@runyard/service-kit';
import { CommitRefusedError } from './group-committer.ts';
import { isPoolBusy } from './pool.ts';
import { isLockTimeout, isTimeoutOrOutOfMemory, isUnavailable } from './sql-errors.ts';

/** Middleware that maps database outages: the caller gets 503 and when to retry, not a fault of the service. */
export function mapDatabaseOutages({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: (request) =>
      handler(request).catch((error: unknown) => {
        throw toUnavailableError(error) ?? error;
      }),
  };
}

/** Returns the error for the caller when a database is unavailable or overloaded; undefined for other errors. */
export function toUnavailableError(error: unknown): UnavailableError | undefined {
  if (error instanceof CommitRefusedError) {
    return new UnavailableError('Too much is waiting to be written', {
      ...{ cause: error, retryAfterSeconds: 1 },
      refusal: 'write_queue',
    });
  }
  // The error already names the unavailable part.
  if (error instanceof UnavailableError) return error;
  const message = messageOf(error);
  return message === undefined
    ? undefined
    : new UnavailableError(message, { cause: error, retryAfterSeconds: 1, refusal: 'database' });
}

function messageOf(error: unknown): string | undefined {
  if (isPoolBusy(error)) return 'Too many requests wait for the database';
  if (isLockTimeout(error)) return 'Another operation holds what this one needs';
  if (isTimeoutOrOutOfMemory(error)) return 'The database did not get this done in time';
  return isUnavailable(error) ? 'The database is not available' : undefined;
}
