import { type BoundOperation, UnavailableError } from '@runyard/service-kit';
import { CommitRefusedError } from './group-committer.ts';
import { isPoolBusy } from './pool.ts';
import { isUnavailable, wasLocked, wasTooMuch } from './sql-errors.ts';

/** The operation with outages told as such: a caller gets 503 and when to come back, not a fault of the service. */
export function tellingOutages({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: (request) =>
      handler(request).catch((error: unknown) => {
        throw outageOf(error) ?? error;
      }),
  };
}

/** What a caller is told of an error, when it is a database that is away or has too much to do; undefined when it is another. */
export function outageOf(error: unknown): UnavailableError | undefined {
  if (error instanceof CommitRefusedError) {
    return new UnavailableError('Too much is waiting to be written', {
      ...{ cause: error, retryAfterSeconds: 1 },
      refusal: 'write_queue',
    });
  }
  // It says itself what is away.
  if (error instanceof UnavailableError) return error;
  const message = messageOf(error);
  return message === undefined
    ? undefined
    : new UnavailableError(message, { cause: error, retryAfterSeconds: 1, refusal: 'database' });
}

function messageOf(error: unknown): string | undefined {
  if (isPoolBusy(error)) return 'Too many requests wait for the database';
  if (wasLocked(error)) return 'Another operation holds what this one needs';
  if (wasTooMuch(error)) return 'The database did not get this done in time';
  return isUnavailable(error) ? 'The database is not available' : undefined;
}
