import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { endAfterAnswer, headOf, joinSockets, refuseUpgrade } from '@runyard/service-kit';
import type { UpstreamLoad } from '../limits/upstream-load.ts';
import { CountedMessages } from './counted-messages.ts';
import { responseHeaders } from './headers.ts';
import type { AnswerSource } from './origin-rules.ts';
import { isConnectFailure, upstreamFailure } from './upstream-error.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * Passes a protocol upgrade (websockets) through: once the upstream agrees, bytes go both ways untouched, those of the
 * client as fast as it may send requests, and the end of either side ends the other. The client gets the answer of an upstream that declines.
 *
 * @throws NoRoomError when none of them takes another request
 */
export function forwardUpgrade(
  req: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  options: {
    upstreams: readonly string[];
    load: UpstreamLoad;
    target: string;
    headers: string[];
    /** Names and values of headers that the answer gets besides the upstream's. */
    ownHeaders: readonly string[];
    /** The sender of the answer, which decides which headers it may have. */
    source: AnswerSource;
    name: string;
    /** Counts a message of the client: see {@link CountedMessages}. */
    takeMessage(): number;
  },
): void {
  const { load, target, headers, ownHeaders, source, name, takeMessage } = options;
  const [upstream, ...others] = load.withRoom(options.upstreams) as [string, ...string[]];
  const releaseLoad = load.take(upstream);
  const base = new URL(upstream);
  const request = (base.protocol === 'https:' ? httpsRequest : httpRequest)({
    host: base.hostname,
    port: base.port,
    path: base.pathname === '/' ? target : base.pathname.replace(/\/$/, '') + target,
    method: req.method ?? 'GET',
    headers: [...headers, 'connection', 'Upgrade', 'upgrade', req.headers.upgrade ?? 'websocket'],
    agent: false,
    timeout: CONNECT_TIMEOUT_MS,
  });
  const destroyRequest = () => request.destroy();
  socket.on('close', destroyRequest).on('error', destroyRequest);

  request.on('timeout', () => request.destroy(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' })));
  request.on('error', (error) => {
    socket.off('close', destroyRequest).off('error', destroyRequest);
    try {
      if (others.length === 0 || !isConnectFailure(error) || socket.destroyed) throw error;
      forwardUpgrade(req, socket, head, { ...options, upstreams: others });
    } catch (failure) {
      refuseUpgrade(socket, upstreamFailure(failure, name));
    }
  });
  for (const event of ['response', 'upgrade', 'close']) request.once(event, releaseLoad);
  request.on('response', (response) => {
    const { list } = responseHeaders(response.rawHeaders, { ownHeaders, source });
    socket.write(headOf(response.statusCode ?? 502, [...list, 'connection', 'close']));
    response.on('error', () => socket.destroy());
    endAfterAnswer(socket);
    response.pipe(socket);
  });
  request.on('upgrade', (response, upstreamSocket, upstreamHead) => {
    socket.off('close', destroyRequest).off('error', destroyRequest);
    const { list } = responseHeaders(response.rawHeaders, { ownHeaders, source });
    const upgraded = [...list, 'connection', 'Upgrade', 'upgrade', response.headers.upgrade ?? 'websocket'];
    socket.write(headOf(101, upgraded));
    upstreamSocket.setTimeout(0);
    upstreamSocket.setNoDelay(true);
    // Either side may be quiet for hours: keep-alive lets the system detect a partition.
    upstreamSocket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    if (socket instanceof Socket) socket.setKeepAlive(true, KEEP_ALIVE_DELAY_MS);
    if (upstreamHead.length > 0) socket.write(upstreamHead);
    const isWebsocket = response.headers.upgrade?.toLowerCase() === 'websocket';
    const messages = isWebsocket ? new CountedMessages(takeMessage) : undefined;
    if (head.length > 0) (messages ?? upstreamSocket).write(head);
    joinSockets(socket, upstreamSocket, { ...(messages && { through: messages }) });
  });
  request.end();
}
