import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds after an answer in which a client may still send what nobody reads. */
export const LINGER_MS = 5_000;

/**
 * Ends every answer that came before the end of its request's body: what is left of the body is read and discarded, for
 * a bounded time, and then the connection is closed. Otherwise the next request on the connection would wait behind
 * bytes that nobody reads.
 *
 * @param lingerMs milliseconds after the answer in which the rest may come
 */
export function discardUnreadBodies(server: Server, { lingerMs = LINGER_MS } = {}): void {
  server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    // Before the listener of Node itself, which closes the connection after its last answer.
    if (announcesBody(req)) res.prependOnceListener('finish', () => discardRest(req, lingerMs));
  });
}

function announcesBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function discardRest(req: IncomingMessage, lingerMs: number): void {
  if (req.readableEnded || req.destroyed) return;
  const restoreClose = closeAfterRest(req.socket);
  const timer = setTimeout(() => req.socket.destroy(), lingerMs);
  req.once('close', () => {
    clearTimeout(timer);
    restoreClose();
  });
  // Whoever read the body has stopped, or would go on at the pace of something that no longer counts.
  req.unpipe();
  req.removeAllListeners('data').removeAllListeners('readable');
  req.resume();
}

/**
 * Lets a connection that takes no further request say so, and stay open until the rest has been read: closed before, the
 * system would reset it, and a client that is still sending would lose the answer.
 *
 * @returns a function that closes it, if it was to be closed
 */
function closeAfterRest(socket: Socket): () => void {
  const destroySoon = socket.destroySoon.bind(socket);
  let isLast = false;
  socket.destroySoon = () => {
    isLast = true;
    socket.end();
  };
  return () => {
    socket.destroySoon = destroySoon;
    if (isLast) destroySoon();
  };
}
