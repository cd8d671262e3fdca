import { ReadLimits } from '@runyard/database';
import { ClientDisconnectedError, type HandlerRequest, type Middleware } from '@runyard/service-kit';
import type { Config } from '../config.ts';

/** Operations whose statements read, or copy, as much as their callers have. */
const HEAVY: ReadonlySet<string> = new Set([
  'searchAssistants',
  'countAssistants',
  'searchThreads',
  'countThreads',
  'getThreadHistory',
  'searchThreadHistory',
  'copyThread',
  'listRuns',
  'searchCrons',
  'countCrons',
  'searchItems',
  'listNamespaces',
  'listA2aTasks',
]);
/** Operations of JSON-RPC, with the methods of which that is true. */
const HEAVY_METHODS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  callA2a: new Set(['ListTasks']),
};

/** A write goes on without its client, who may ask for the outcome by its idempotency key. */
const NEVER = new AbortController().signal;

/**
 * Middleware that leaves half of the connections to others than heavy reads: runs are accepted and ended however many
 * clients search. A statement of a heavy read ends after a time, and when its client has left.
 */
export function limitReads(config: Pick<Config, 'DATABASE_POOL_SIZE' | 'DATABASE_READ_TIMEOUT_SECONDS'>): Middleware {
  const limits = new ReadLimits({
    connectionsMax: Math.floor(config.DATABASE_POOL_SIZE / 2),
    statementMs: config.DATABASE_READ_TIMEOUT_SECONDS * 1000,
  });
  return ({ operation, handler }) => ({
    operation,
    handler(request) {
      if (!isHeavy(operation.operationId, request)) return handler(request);
      const { signal } = request;
      const limited = limits.run(operation.operationId === 'copyThread' ? NEVER : signal, () => handler(request));
      return limited.catch((error: unknown) => {
        throw signal.aborted ? new ClientDisconnectedError() : error;
      });
    },
  });
}

function isHeavy(operationId: string, { body }: HandlerRequest): boolean {
  const methods = HEAVY_METHODS[operationId];
  if (methods) return methods.has((body as { method?: unknown } | null)?.method);
  return HEAVY.has(operationId);
}
