import { isUnavailable } from '@runyard/database';
import { type BoundOperation, UnavailableError } from '@runyard/service-kit';

/** The operation with a database that is away told as such: 503 and when to come back, not a fault of the service. */
export function tellingOutages({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: (request) =>
      handler(request).catch((error: unknown) => {
        if (!isUnavailable(error)) throw error;
        throw new UnavailableError('The database is not available', { cause: error, retryAfterSeconds: 1 });
      }),
  };
}
