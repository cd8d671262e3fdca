import type { IncomingMessage, ServerResponse } from 'node:http';
import { ClientDisconnectedError } from '@runyard/service-kit';
import type { Dispatcher } from 'undici';
import type { RequestBody } from '../limits/request-body.ts';
import { NoRoomError, type UpstreamLoad } from '../limits/upstream-load.ts';
import { AnswerRelay, type Continuation, type RelayOptions } from './answer-relay.ts';
import type { UnresponsiveUpstreams } from './unresponsive-upstreams.ts';
import { mayTryAnother } from './upstream-error.ts';

export interface ForwardOptions extends Pick<RelayOptions, 'ownHeaders' | 'challengeFor' | 'source' | 'isLast'> {
  dispatcher: Dispatcher;
  unresponsiveUpstreams: UnresponsiveUpstreams;
  load: UpstreamLoad;
  /** Base URLs, in the order to be tried. */
  upstreams: readonly string[];
  /** Path and query. */
  target: string;
  headers: string[];
  body: RequestBody;
  /** Called when an upstream takes no more requests, or none at all: others have to be tried first. */
  avoid(upstream: string): void;
}

/**
 * Passes a request on and its answer back, byte for byte as they come. Resolves when the answer is out or has broken
 * off, with a handoff when its rest is elsewhere; rejects when there was none. A client that leaves takes the
 * upstream's request with it, and an upstream that dies in the middle cuts the client's connection, so that half an
 * answer never looks like a whole one. A request that was not carried out, or may be carried out twice, goes to the
 * next upstream.
 *
 * @throws NoRoomError when none of them takes another request
 */
export async function forward(
  req: IncomingMessage,
  res: ServerResponse,
  forwarding: ForwardOptions,
): Promise<Continuation | undefined> {
  const { body, avoid } = forwarding;
  const isRepeatable = isSafe(req.method) || req.headers['idempotency-key'] !== undefined;
  const upstreams = listAttempts(forwarding.upstreams, isRepeatable);
  for (const [index, upstream] of upstreams.entries()) {
    const isSendable = () => body.kind !== 'stream' || !body.isStarted();
    const hasAlternative = index < upstreams.length - 1;
    try {
      return await sendToUpstream(res, upstream, {
        ...forwarding,
        method: req.method as Dispatcher.HttpMethod,
        hasAlternative: hasAlternative && body.kind !== 'stream',
        isContinuing: false,
      });
    } catch (error) {
      const mayTryNext = mayTryAnother(error, isRepeatable);
      if (mayTryNext && !(error instanceof NoRoomError)) avoid(upstream);
      if (!hasAlternative || !isSendable() || !mayTryNext) throw error;
      if (res.destroyed) throw new ClientDisconnectedError(error);
    }
  }
  return undefined;
}

/** Sends the request to one upstream. @throws NoRoomError */
export function sendToUpstream(
  res: ServerResponse,
  upstream: string,
  request: Omit<ForwardOptions, 'upstreams'> &
    Pick<RelayOptions, 'hasAlternative' | 'isContinuing'> & { method: Dispatcher.HttpMethod },
): Promise<Continuation | undefined> {
  const { dispatcher, unresponsiveUpstreams, load, target, headers, body, method, avoid } = request;
  const base = new URL(upstream);
  const releaseLoad = load.take(upstream);
  const relay = new AnswerRelay(res, { ...request, onBegun: releaseLoad, onClosing: () => avoid(upstream) });
  dispatcher.dispatch(
    {
      origin: base.origin,
      path: base.pathname === '/' ? target : base.pathname.replace(/\/$/, '') + target,
      method,
      headers:
        body.kind === 'stream' && body.length !== undefined ? [...headers, 'content-length', body.length] : headers,
      body: body.kind === 'none' ? null : body.kind === 'whole' ? body.bytes : (body.chunks as unknown as Buffer),
      // A run may take any time; `unresponsiveUpstreams` checks whether the upstream still lives.
      headersTimeout: 0,
      bodyTimeout: 0,
    },
    unresponsiveUpstreams.watch(base.origin, relay),
  );
  return relay.done.finally(releaseLoad);
}

function isSafe(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/** Returns each upstream once; an only one twice, since a broken connection says nothing about the next one. */
function listAttempts(upstreams: readonly string[], isRepeatable: boolean): readonly string[] {
  return upstreams.length === 1 && isRepeatable ? [...upstreams, ...upstreams] : upstreams;
}
