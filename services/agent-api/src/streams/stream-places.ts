import type { ServerResponse } from 'node:http';
import type { QueryFlag } from '@runyard/contracts';
import { type HandlerRequest, type Middleware, UnavailableError } from '@runyard/service-kit';
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
 * Limits the clients that follow a run or wait for it. A place is taken before anything is done for the client: a
 * refused one has not created a run either, and may repeat the same request.
 */
export class StreamPlaces {
  readonly #max: number;
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Middleware: a long-lived answer takes a place first. */
  readonly limitOpenStreams: Middleware = ({ operation, handler }) => ({
    operation,
    handler: async (request) => {
      if (isLongLived(operation.operationId, request)) this.take(request.res);
      return handler(request);
    },
  });

  /** Takes a place until the answer, or the connection, is closed. @throws UnavailableError */
  take(res: Pick<ServerResponse, 'closed' | 'once'>): void {
    // A client that has left already sends no other `close`.
    if (res.closed) return;
    if (this.#taken >= this.#max) {
      throw new UnavailableError('Too many streams are open at the moment', { code: 'too_many_open_streams' });
    }
    this.#taken += 1;
    res.once('close', () => {
      this.#taken -= 1;
    });
  }
}

function isLongLived(operationId: string, { query, body }: HandlerRequest): boolean {
  const methods = LONG_LIVED_METHODS[operationId];
  if (methods) return methods.has((body as { method?: unknown } | null)?.method);
  if (operationId === 'cancelRun') return isSet((query as CancelQuery).wait);
  return LONG_LIVED.has(operationId);
}
