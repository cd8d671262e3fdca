import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ServiceContext } from '../service.ts';
import { Connections } from './connections.ts';
import { answerStarting } from './starting-response.ts';
import { discardUnreadBodies } from './unread-bodies.ts';

const KEEP_ALIVE_MS = 75_000;
const PEER_SILENCE_MS = 15_000;
/**
 * It is longer than the keep-alive time: otherwise an idle connection could be reset under a request that is just
 * arriving.
 */
const HEADERS_TIMEOUT_MS = 80_000;
/** Allows a body of the largest size over a slow connection. */
const REQUEST_TIMEOUT_MS = 15 * 60_000;

export interface ListenOptions {
  host: string;
  /** The port; 0 chooses a free one. */
  port: number;
  context: ServiceContext;
  /**
   * Connections that may wait to be accepted; the system has its own limit. A connection beyond it is retried by the
   * client's system after one second, then after three. Default 511, as in Node.
   */
  backlog?: number;
  /** Milliseconds for which requests in flight may go on after the stop began; then they are cut. */
  drainMs?: number;
  /** Is called at stop, when no new requests come any more: long answers must end now. */
  onClosed?: () => void;
  /** True when the server is not for requests of the service: at stop it closes at once. */
  isAuxiliary?: boolean;
}

/** A server that listens already and does not serve yet. */
export interface EarlyListener {
  url: string;
  server: Server;
  /**
   * Answers requests from now on. At stop, parts that were opened before this call are closed after the last request.
   */
  serve(handler: RequestListener, options?: Pick<ListenOptions, 'drainMs' | 'onClosed'>): void;
}

/**
 * Listens before the service can work, so that it is seen to be alive while it waits for dependencies. `/ok` answers;
 * every other request gets a 503 that says it was not processed and may be repeated elsewhere.
 */
export async function openEarlyListener({
  host,
  port,
  backlog = 511,
  context,
  isAuxiliary = false,
}: ListenOptions): Promise<EarlyListener> {
  let handle: RequestListener = answerStarting;
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      // TCP keep-alive lets the system detect clients that vanish while they wait for an answer.
      keepAlive: true,
      keepAliveInitialDelay: PEER_SILENCE_MS,
    },
    (req, res) => handle(req, res),
  );
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  discardUnreadBodies(server);
  const connections = new Connections(server);
  server.on('clientError', answerMalformed);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
    server.listen({ host, port, backlog }, resolve);
  });
  const windowMs = isAuxiliary ? 0 : context.drainWindowMs;
  let drained: Promise<void> | undefined;
  context.lifecycle.onStop('listener', () => {
    drained ??= connections.drain({ windowMs: 0, drainMs: 0 });
    return drained;
  });
  const address = server.address() as AddressInfo;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  const url = `http://${shown}:${address.port}`;
  context.logger.info('listening', { url });
  return {
    url,
    server,
    serve(handler, { drainMs = 10_000, onClosed } = {}) {
      handle = handler;
      const drain = () => {
        drained ??= connections.drain({ windowMs, drainMs, onClosed });
        return drained;
      };
      context.lifecycle.onStop('http server', drain, { timeoutMs: windowMs + drainMs + 2_000 });
    },
  };
}

/**
 * Listens, and registers the drain. At stop, requests are still accepted for a while, each as the last of its
 * connection. Then new connections are refused, requests in flight end, and the rest is cut.
 */
export async function listen(
  handler: RequestListener,
  options: ListenOptions,
): Promise<Pick<EarlyListener, 'url' | 'server'>> {
  const earlyListener = await openEarlyListener(options);
  earlyListener.serve(handler, options);
  return earlyListener;
}

function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE')
    return new Error(`Port ${port} on ${host} is taken; set PORT to another one.`, { cause: error });
  if (error.code === 'EACCES')
    return new Error(`This user may not listen on port ${port}; set PORT to another one.`, { cause: error });
  return error;
}

/** Answers data that is no HTTP request; there is no request object for a usual answer. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = MALFORMED[error.code ?? ''] ?? ['400 Bad Request', 'Malformed HTTP request'];
  const body = JSON.stringify({ detail });
  const headers = `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${headers}\r\n\r\n${body}`);
}

const MALFORMED: Record<string, [status: string, detail: string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time'],
};
