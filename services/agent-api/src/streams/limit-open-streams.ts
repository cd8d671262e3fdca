import type { QueryFlag } from '@runyard/contracts';
import type { HandlerRequest, Middleware, StreamPlaces } from '@runyard/service-kit';
import { isSet } from '../http/query-flag.ts';

interface CancelQuery {
  wait?: QueryFlag;
}

/** Operations whose answer takes as long as a run, or longer. */
const LONG_LIVED: ReadonlySet<string> = new Set([
  'streamRun',
  'streamStatelessRun',
  'waitRun',
  'waitStatelessRun',
  'joinRun',
  'joinRunStream',
  'joinRunStreamAlias',
  'joinStatelessRunStream',
  'joinThreadStream',
  'streamEvents',
  'sendA2aMessage',
  'streamA2aMessage',
  'subscribeToA2aTask',
  'subscribeToA2aTaskAlias',
  'runAgUi',
  'joinAgUi',
  'sendA2aMessageV03',
  'streamA2aMessageV03',
  'subscribeToA2aTaskV03',
  'subscribeToA2aTaskV03Alias',
]);
/** Operations of JSON-RPC, with the methods of which that is true. */
const LONG_LIVED_METHODS: Readonly<Record<string, ReadonlySet<unknown>>> = {
  callA2a: new Set([
    ...['SendMessage', 'SendStreamingMessage', 'SubscribeToTask'],
    ...['message/send', 'message/stream', 'tasks/resubscribe'],
  ]),
  callMcp: new Set(['tools/call', 'tasks/result']),
};

/**
 * Returns middleware by which a long-lived answer takes a place before anything is done for the client: a refused one has
 * not created a run either, and may repeat the same request.
 */
export function limitOpenStreams(places: StreamPlaces): Middleware {
  return ({ operation, handler }) => ({
    operation,
    handler: async (request) => {
      if (isLongLived(operation.operationId, request)) places.take(request.res);
      return handler(request);
    },
  });
}

function isLongLived(operationId: string, { query, body }: HandlerRequest): boolean {
  const methods = LONG_LIVED_METHODS[operationId];
  if (methods) return methods.has((body as { method?: unknown } | null)?.method);
  if (operationId === 'cancelRun') return isSet((query as CancelQuery).wait);
  return LONG_LIVED.has(operationId);
}
