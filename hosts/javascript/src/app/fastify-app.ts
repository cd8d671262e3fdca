import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { GraphLoadError } from '@runyard/host-protocol/graph-process';
import { headersOf, toPassedRequest } from './node-messages.ts';
import type { MountedApp, ProjectAppOptions } from './project-app.ts';

interface FastifyRequest {
  raw: IncomingMessage;
  body: unknown;
  /** True when the app has no route for it. */
  is404: boolean;
}

interface FastifyReply {
  raw: ServerResponse;
  code(status: number): FastifyReply;
  headers(headers: Record<string, string | string[]>): FastifyReply;
  send(payload?: Readable): FastifyReply;
}

type Done = (error: Error | null, body?: unknown) => void;

interface FastifyApp {
  /** The instance's own server, which never listens here. */
  server: Server;
  routing: RequestListener;
  ready(): PromiseLike<unknown>;
  setNotFoundHandler(handler: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>): unknown;
  hasContentTypeParser(contentType: string): boolean;
  addContentTypeParser(
    contentType: string,
    parse: (request: FastifyRequest, payload: Readable, done: Done) => void,
  ): unknown;
  /** Exists with `@fastify/swagger` only. */
  swagger?(): object;
}

export function isFastify(value: unknown): value is FastifyApp {
  const app = value as Partial<FastifyApp> | null;
  return typeof app?.routing === 'function' && typeof app.setNotFoundHandler === 'function';
}

/**
 * Puts a Fastify instance in front of the server. A request for which it has no route runs through its hooks, and then
 * goes on to the server.
 *
 * @throws GraphLoadError when the instance answers such requests itself
 */
export async function mountFastify(app: FastifyApp, { passOn }: ProjectAppOptions): Promise<MountedApp> {
  try {
    app.setNotFoundHandler(async (request, reply) => {
      const passed = toPassedRequest(request.raw, reply.raw, request.body);
      const answer = await passOn(passed.request, passed.body);
      const stream = answer.body && Readable.fromWeb(answer.body as unknown as NodeReadableStream);
      return reply
        .code(answer.status)
        .headers(headersOf(answer))
        .send(stream ?? undefined);
    });
  } catch (cause) {
    throw new GraphLoadError(
      'The Fastify instance has a not-found handler, or was made ready: the server could not answer its own paths. Export it without the handler and before `ready()`.',
      { cause },
    );
  }
  if (!app.hasContentTypeParser('*')) app.addContentTypeParser('*', parseForServer);
  await app.ready();
  const attachWebSockets = (server: Server) => {
    server.on('upgrade', (...upgrade) => app.server.emit('upgrade', ...upgrade));
  };
  return {
    listener: app.routing,
    paths: ['*'],
    openApi: app.swagger?.() ?? null,
    // `@fastify/websocket` listens there.
    attachWebSockets: app.server.listenerCount('upgrade') > 0 ? attachWebSockets : null,
  };
}

/** Leaves bodies of other types to the server, and refuses them at the app's own routes as before. */
function parseForServer(request: FastifyRequest, payload: Readable, done: Done): void {
  if (request.is404) done(null, payload);
  else
    done(
      Object.assign(new Error('Unsupported Media Type'), { statusCode: 415, code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' }),
    );
}
