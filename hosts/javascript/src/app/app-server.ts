import { createServer, type IncomingMessage } from 'node:http';
import {
  type AuthUser,
  DEPTH_HEADER,
  decodeUser,
  EXCHANGE_HEADER,
  USER_HEADER,
} from '@runyard/host-protocol/graph-process';
import { discardUnreadBodies } from '@runyard/service-kit/unread-bodies';
import type { LoopbackClient } from './loopback-client.ts';
import type { ProjectApp } from './project-app.ts';
import { setRequestAuth } from './request-auth.ts';

/** Longer than a parent keeps an idle connection. */
const KEEP_ALIVE_MS = 75_000;
/** A user has whatever fields the project's handler gives it. */
const HEADER_BYTES_MAX = 1024 * 1024;

/** Serves the project's app to the parent on a Unix socket. */
export async function serveProjectApp(app: ProjectApp, socketPath: string, loopback: LoopbackClient): Promise<void> {
  const settings = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, maxHeaderSize: HEADER_BYTES_MAX };
  const server = createServer(settings, (req, res) => {
    const user = takeUser(req);
    const exchange = takeHeader(req, EXCHANGE_HEADER);
    const depth = Number(takeHeader(req, DEPTH_HEADER) ?? 0);
    void loopback.withOrigin({ depth, ...(exchange !== undefined && { exchange }), ...(user && { user }) }, () =>
      app.listener(req, res),
    );
  });
  discardUnreadBodies(server);
  if (app.attachWebSockets) {
    server.on('upgrade', (req) => {
      takeUser(req);
      for (const name of [EXCHANGE_HEADER, DEPTH_HEADER]) takeHeader(req, name);
    });
    app.attachWebSockets(server);
  }
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
}

/** Moves the user out of the headers to where the project's code finds it. */
function takeUser(req: IncomingMessage): AuthUser | undefined {
  const header = takeHeader(req, USER_HEADER);
  if (header === undefined) return undefined;
  const user = decodeUser(header);
  setRequestAuth(req, user);
  return user;
}

/** Removes a header and returns its value. The project's code does not see the header. */
function takeHeader(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  delete req.headers[name];
  const at = req.rawHeaders.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  if (at >= 0) req.rawHeaders.splice(at, 2);
  return typeof value === 'string' ? value : undefined;
}
