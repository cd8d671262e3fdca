import { CommitRefusedError, isUnavailable, sqlState } from '@runyard/database';
import { BackendError } from '../backend.ts';

/** What a failure of the database means to who asked. The cause keeps the details, which name what is stored. */
/** What Postgres says of a statement that reached its time limit. */
export const CANCELLED = '57014';

/** The database was there and did not get done: what it was asked may be too much. */
export function wasTooSlow(error: BackendError): boolean {
  return error.reason === 'unavailable' && sqlState(error) === CANCELLED;
}

export function backendError(error: unknown): BackendError {
  if (error instanceof BackendError) return error;
  const state = sqlState(error);
  if (state?.startsWith('54') || error instanceof RangeError) {
    return new BackendError('too_large', 'The state is too large to be stored.', { cause: error });
  }
  if (state?.startsWith('21') || state?.startsWith('22') || state?.startsWith('23')) {
    return new BackendError('invalid', 'Postgres refused the data.', { cause: error });
  }
  const isAway = isUnavailable(error) || error instanceof CommitRefusedError;
  return new BackendError('unavailable', isAway ? 'The database is not available.' : 'The database failed.', {
    cause: error,
  });
}
