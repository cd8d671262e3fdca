import type { ErrorCode } from '@runyard/contracts';
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
      code: 'write_queue_full',
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  // The error already names the unavailable part.
  if (error instanceof UnavailableError) return error;
  const code = codeOf(error);
  return code && new UnavailableError(MESSAGES[code], { code, cause: error, retryAfterSeconds: 1 });
}

const MESSAGES = {
  database_busy: 'Too many requests wait for the database',
  row_locked: 'Another operation holds what this one needs',
  database_too_slow: 'The database did not get this done in time',
  database_unavailable: 'The database is not available',
} as const satisfies Partial<Record<ErrorCode, string>>;

function codeOf(error: unknown): keyof typeof MESSAGES | undefined {
  if (isPoolBusy(error)) return 'database_busy';
  if (isLockTimeout(error)) return 'row_locked';
  if (isTimeoutOrOutOfMemory(error)) return 'database_too_slow';
  return isUnavailable(error) ? 'database_unavailable' : undefined;
}
