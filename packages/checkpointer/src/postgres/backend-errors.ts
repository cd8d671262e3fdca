import {
  CommitRefusedError,
  isLockTimeout,
  isPoolBusy,
  isRetryable,
  isTimeoutOrOutOfMemory,
  isUnavailable,
  sqlState,
} from '@runyard/database';
import { BackendError } from '../backend.ts';
import { mapEncryptionFailure } from '../encryption/encryption-failure.ts';

/** Larger state may overload a small server, or make it crash. */
export const LARGE_STATE_BYTES = 32 * 1024 * 1024;

/** The database became unavailable during a write that is large enough to be the cause. */
class LostDuringLargeWriteError extends BackendError {}

/**
 * Returns whether the request may have been too much for the database: it did not finish although the database was
 * available, or the database became unavailable during a large write. The attempt then counts as failed, because
 * otherwise the same request would be repeated without end.
 */
export function mayOverloadDatabase(error: BackendError): boolean {
  return (
    error.reason === 'unavailable' && (error instanceof LostDuringLargeWriteError || isTimeoutOrOutOfMemory(error))
  );
}

/**
 * Maps a failure of the database to the error for the caller. The cause has the details, which name stored data. Only
 * what is known to be an outage is one: the attempt of a run that meets an outage is repeated without being charged, so
 * a bug or a damaged table would be repeated for ever.
 */
export function toBackendError(failure: unknown): BackendError {
  const error = mapEncryptionFailure(failure);
  if (error instanceof BackendError) return error;
  const state = sqlState(error);
  if (state?.startsWith('54') || error instanceof RangeError) {
    return new BackendError('too_large', 'The state is too large to be stored.', { cause: error });
  }
  if (state?.startsWith('21') || state?.startsWith('22') || state?.startsWith('23')) {
    return new BackendError('invalid', 'Postgres refused the data.', { cause: error });
  }
  const outage = outageText(error);
  if (outage !== undefined) return new BackendError('unavailable', outage, { cause: error });
  return new BackendError('storage_failed', 'The database failed.', { cause: error });
}

function outageText(error: unknown): string | undefined {
  if (isPoolBusy(error) || isTimeoutOrOutOfMemory(error) || isLockTimeout(error) || isRetryable(error))
    return 'The database did not get it done in time.';
  const isAway = isUnavailable(error) || error instanceof CommitRefusedError;
  return isAway ? 'The database is not available.' : undefined;
}

/** Maps a failure during a write of this many bytes. */
export function toWriteError(error: unknown, bytes: number): BackendError {
  const failure = toBackendError(error);
  if (failure.reason !== 'unavailable' || bytes <= LARGE_STATE_BYTES) return failure;
  return new LostDuringLargeWriteError('unavailable', failure.message, { cause: error });
}
