import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { LOOPBACK_HEADER, type Loopback } from '@runyard/host-protocol';
import { discardUnreadBodies } from '@runyard/service-kit/unread-bodies';
import type { SocketFolder } from './socket-folder.ts';

const KEEP_ALIVE_MS = 75_000;

export interface LoopbackServer extends Loopback {
  close(): Promise<void>;
}

/** Listens for the hosts of this process. Requests without the token are refused unread. */
export async function openLoopback(folder: SocketFolder, onRequest: RequestListener): Promise<LoopbackServer> {
  const token = randomBytes(32).toString('base64url');
  const socketPath = folder.newPath();
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (req, res) => {
    if (hasLoopbackToken(req, token)) onRequest(req, res);
    else res.writeHead(403, { 'content-type': 'application/json', connection: 'close' }).end('{"detail":"Forbidden"}');
  });
  discardUnreadBodies(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  await folder.grantAccess(socketPath);
  return {
    socketPath,
    token,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns whether the request has the token. Removes its header, because nothing else may see it. */
export function hasLoopbackToken(req: IncomingMessage, token: string): boolean {
  const given = Buffer.from(String(req.headers[LOOPBACK_HEADER] ?? ''));
  delete req.headers[LOOPBACK_HEADER];
  const expected = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
