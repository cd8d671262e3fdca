import { ClientDisconnectedError, type HandlerRequest, type Middleware } from '@runyard/service-kit';
import { ReadLimits, type ReadLimitsOptions } from './read-limits.ts';

/**
 * Middleware that leaves connections to others than the operations it limits, however many clients call those. A statement
 * of them ends after a time, and when its client has left.
 *
 * @param signalOf returns the signal that nobody waits for an operation any more; undefined for one without limits
 */
export function limitOperations(
  options: ReadLimitsOptions,
  signalOf: (operationId: string, request: HandlerRequest) => AbortSignal | undefined,
): Middleware {
  const limits = new ReadLimits(options);
  return ({ operation, handler }) => ({
    operation,
    handler(request) {
      const signal = signalOf(operation.operationId, request);
      if (!signal) return handler(request);
      return limits
        .run(signal, () => handler(request))
        .catch((error: unknown) => {
          throw request.signal.aborted ? new ClientDisconnectedError() : error;
        });
    },
  });
}
