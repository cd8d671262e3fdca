import { limitOperations } from '@runyard/database';
import type { HandlerRequest, Middleware } from '@runyard/service-kit';
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
  const options = {
    connectionsMax: Math.floor(config.DATABASE_POOL_SIZE / 2),
    statementMs: config.DATABASE_READ_TIMEOUT_SECONDS * 1000,
  };
  return limitOperations(options, (operationId, request) => {
    if (!isHeavy(operationId, request)) return undefined;
    return operationId === 'copyThread' ? NEVER : request.signal;
  });
}

function isHeavy(operationId: string, { body }: HandlerRequest): boolean {
  const methods = HEAVY_METHODS[operationId];
  if (methods) return methods.has((body as { method?: unknown } | null)?.method);
  return HEAVY.has(operationId);
}
