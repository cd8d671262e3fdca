import { CommitRefusedError, isPoolBusy, isUnavailable, sqlState, wasLocked, wasTooMuch } from '@runyard/database';
import { BackendError } from '../backend.ts';

/** State of more bytes than this may itself be why a small server does not get done with it, or goes down over it. */
export const LARGE_STATE_BYTES = 32 * 1024 * 1024;

/** The database went away over a write that is large enough to be why. */
class LostOverLargeWrite extends BackendError {}

/**
 * The database did not get done although it was there, or went away over something large: what it was asked may be too much. That
 * counts against who asked, or the same would be asked without end.
 */
export function wasTooSlow(error: BackendError): boolean {
  return error.reason === 'unavailable' && (error instanceof LostOverLargeWrite || wasTooMuch(error));
}

/** What a failure of the database means to who asked. The cause keeps the details, which name what is stored. */
export function backendError(error: unknown): BackendError {
  if (error instanceof BackendError) return error;
  const state = sqlState(error);
  if (state?.startsWith('54') || error instanceof RangeError) {
    return new BackendError('too_large', 'The state is too large to be stored.', { cause: error });
  }
  if (state?.startsWith('21') || state?.startsWith('22') || state?.startsWith('23')) {
    return new BackendError('invalid', 'Postgres refused the data.', { cause: error });
  }
  return new BackendError('unavailable', outageText(error), { cause: error });
}

function outageText(error: unknown): string {
  if (isPoolBusy(error) || wasTooMuch(error) || wasLocked(error)) return 'The database did not get it done in time.';
  const isAway = isUnavailable(error) || error instanceof CommitRefusedError;
  return isAway ? 'The database is not available.' : 'The database failed.';
}

/** The same for a write of so many bytes. */
export function writeError(error: unknown, bytes: number): BackendError {
  const failure = backendError(error);
  if (failure.reason !== 'unavailable' || bytes <= LARGE_STATE_BYTES) return failure;
  return new LostOverLargeWrite('unavailable', failure.message, { cause: error });
}
