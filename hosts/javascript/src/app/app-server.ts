import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import {
  type AuthUser,
  DEPTH_HEADER,
  decodeUser,
  EXCHANGE_HEADER,
  USER_HEADER,
} from '@runyard/host-protocol/graph-process';
import { discardUnreadBodies } from '@runyard/service-kit/unread-bodies';
import type { LoopbackClient, Origin } from './loopback-client.ts';
import type { ProjectApp } from './project-app.ts';
import { setRequestAuth } from './request-auth.ts';

/** Longer than a parent keeps an idle connection. */
const KEEP_ALIVE_MS = 75_000;
/** A user has whatever fields the project's handler gives it. */
const HEADER_BYTES_MAX = 1024 * 1024;

/** Serves the project's app to the parent on a Unix socket. */
export async function serveProjectApp(app: ProjectApp, socketPath: string, loopback: LoopbackClient): Promise<void> {
  const settings = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0, maxHeaderSize: HEADER_BYTES_MAX };
  const server = createServer(settings, app.listener);
  discardUnreadBodies(server);
  app.attachWebSockets?.(server);
  handWithOrigin(server, loopback);
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
}

/**
 * Lets listeners of requests and websockets, and what they call later, know by which request they were called. Node emits
 * the events of a request or socket in the context of its connection, which knows none.
 */
function handWithOrigin(server: Server, loopback: LoopbackClient): void {
  const emit = server.emit.bind(server) as (name: string, ...args: unknown[]) => boolean;
  server.emit = (name: string, ...args: unknown[]) => {
    if (name !== 'request' && name !== 'upgrade') return emit(name, ...args);
    const [req, answer] = args as [IncomingMessage, EventEmitter];
    return loopback.withOrigin(takeOrigin(req), () => {
      for (const emitter of [req, answer]) keepContext(emitter);
      return emit(name, ...args);
    });
  };
}

function keepContext(emitter: EventEmitter): void {
  const inside = AsyncLocalStorage.snapshot();
  const { emit } = emitter;
  emitter.emit = (...event) => inside(() => emit.apply(emitter, event));
}

/** Takes what the parent says about a request out of its headers. */
function takeOrigin(req: IncomingMessage): Origin {
  const user = takeUser(req);
  const exchange = takeHeader(req, EXCHANGE_HEADER);
  const depth = Number(takeHeader(req, DEPTH_HEADER) ?? 0);
  return { depth, ...(exchange !== undefined && { exchange }), ...(user && { user }) };
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
