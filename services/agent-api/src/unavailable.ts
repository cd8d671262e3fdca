import { CommitRefusedError, isUnavailable } from '@runyard/database';
import { type BoundOperation, UnavailableError } from '@runyard/service-kit';

/** Prisma's own words for a database that cannot be reached, takes too long or hung up. */
const PRISMA_UNAVAILABLE = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections']);

/** The operation with outages told as such: a caller gets 503 and when to come back, not a fault of the service. */
export function tellingOutages({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: async (request) => {
      try {
        return await handler(request);
      } catch (error) {
        throw outageOf(error) ?? error;
      }
    },
  };
}

export function outageOf(error: unknown): UnavailableError | undefined {
  if (error instanceof CommitRefusedError) {
    return new UnavailableError('Too much is waiting to be written', { cause: error, retryAfterSeconds: 1 });
  }
  if (!isUnavailable(error) && !isUnavailableOfPrisma(error)) return undefined;
  return new UnavailableError('The database is not available', { cause: error, retryAfterSeconds: 1 });
}

function isUnavailableOfPrisma(error: unknown): boolean {
  const { meta } = (error ?? {}) as { meta?: { driverAdapterError?: { cause?: { kind?: string; code?: string } } } };
  const { kind, code } = meta?.driverAdapterError?.cause ?? {};
  return PRISMA_UNAVAILABLE.has(String(kind)) || isUnavailable(Object.assign(new Error(), { code }));
}
