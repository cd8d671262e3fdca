import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { isUuid, type ProtocolCommand, type ProtocolEventStreamRequest, streamEvents } from '@runyard/contracts';
import {
  AppError,
  authorize,
  type BoundOperation,
  type CorsRules,
  excludeFromInFlight,
  type HandlerRequest,
  type Logger,
  NotFoundError,
  type PrincipalVerifier,
  type Reply,
  type RequestAdmission,
  refuseUpgrade,
  requestIdOf,
  type StreamPlaces,
  UnavailableError,
} from '@runyard/service-kit';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Scope } from '../access/scope.ts';
import type { StreamRights } from '../auth/stream-rights.ts';
import { userOf } from '../auth/user-caller.ts';
import { requireSocketOrigin } from '../http/socket-origin.ts';
import { ThreadAccess } from '../threads/thread-access.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import type { EventSources } from './event-follower.ts';
import { ProtocolSocket } from './protocol-socket.ts';
import { ReceivedBytes } from './received-bytes.ts';

/** Bytes of the largest command. */
const MAX_COMMAND_BYTES = 16 * 1024 * 1024;
/** Frames of one command, and reads that a frame comes in: each is an object, however few bytes it has. */
const MAX_FRAGMENTS = 1024;
const MAX_CHUNKS = 32 * 1024;
const PATH = /^\/threads\/([^/?]+)\/stream\/events\/?(?:\?|$)/;

export interface ProtocolWebSocketParts {
  /** The operations of the same protocol over HTTP: commands and subscriptions take the same way as those. */
  command: BoundOperation;
  /** Answers with the scope of what a subscriber may see. */
  subscription: BoundOperation;
  threads: Pick<ThreadStore, 'findWithoutState' | 'isStatelessRunVisible'>;
  sources: EventSources;
  /** The pages of other origins that may open websockets. */
  cors: Pick<CorsRules, 'origins' | 'originPattern'>;
  admission: RequestAdmission;
  places: StreamPlaces;
  /** Left out where the project does not decide about callers. */
  rights?: StreamRights | undefined;
  logger: Logger;
}

/** Serves the event protocol over websockets, at the path of its streams. */
export class ProtocolWebSockets {
  readonly #parts: ProtocolWebSocketParts;
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_COMMAND_BYTES,
    maxFragments: MAX_FRAGMENTS,
    maxBufferedChunks: MAX_CHUNKS,
    perMessageDeflate: false,
    clientTracking: false,
  });
  readonly #open = new Set<ProtocolSocket>();
  #isStopping = false;

  constructor(parts: ProtocolWebSocketParts) {
    this.#parts = parts;
  }

  /** The number of open websockets. */
  get size(): number {
    return this.#open.size;
  }

  /** Returns whether a request asks for a websocket of the protocol. */
  isFor({ url = '' }: Pick<IncomingMessage, 'url'>): boolean {
    return PATH.test(url);
  }

  /** Ends every websocket: their clients reconnect to another process. */
  close(): void {
    this.#isStopping = true;
    for (const socket of this.#open) socket.restart();
  }

  onUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer, principal: PrincipalVerifier): void {
    socket.on('error', () => socket.destroy());
    this.#admit(req, socket, principal).then(
      (caller) =>
        this.#server.handleUpgrade(req, socket, head, (webSocket) => this.#serve(webSocket, socket, req, caller)),
      (error: unknown) => refuse(socket, error, this.#parts.logger),
    );
  }

  async #admit(req: IncomingMessage, socket: Duplex, principal: PrincipalVerifier): Promise<HandlerRequest['caller']> {
    this.#parts.admission.enter(socket);
    requireSocketOrigin(req.headers, this.#parts.cors);
    const caller = await principal.authenticate(req);
    authorize(caller, streamEvents);
    if (!isUuid(threadIdOf(req))) throw new NotFoundError('Not Found');
    if (this.#isStopping) throw new UnavailableError('The service is stopping', { code: 'service_not_ready' });
    this.#parts.places.take(socket as unknown as Pick<ServerResponse, 'closed' | 'once'>);
    excludeFromInFlight(socket);
    return caller;
  }

  #serve(socket: WebSocket, connection: Duplex, req: IncomingMessage, admitted: HandlerRequest['caller']): void {
    const { command, subscription, threads, sources, rights, logger } = this.#parts;
    let caller = admitted;
    const threadId = threadIdOf(req);
    const requestId = requestIdOf(req);
    const log = logger.child({ requestId });
    const ask = async <T>({ handler }: BoundOperation, body: unknown): Promise<T> => {
      const reply = await handler(requestOf(req, { threadId, caller, body, requestId, log }));
      return (reply as Reply).body as T;
    };
    const open = new ProtocolSocket({
      socket,
      received: new ReceivedBytes(connection, socket),
      threadId,
      sources,
      scope: async (filter: ProtocolEventStreamRequest) => (await ask<{ scope: Scope }>(subscription, filter)).scope,
      access: (scope) => new ThreadAccess(threads, scope, threadId),
      execute: (sent: ProtocolCommand) => ask(command, sent),
      logger: log,
    });
    this.#open.add(open);
    if (userOf(caller)) {
      const onCaller = (current: typeof caller) => {
        caller = current;
      };
      rights?.watch({ req, caller, threadId, connection: socket, end: () => open.refuse(), onCaller });
    }
    socket.once('close', () => this.#open.delete(open));
  }
}

/** Returns the id in small letters, as requests have it: what is named by one has one name. */
function threadIdOf({ url = '' }: IncomingMessage): string {
  return (PATH.exec(url)?.[1] ?? '').toLowerCase();
}

/** Headers of the upgrade are those of all its commands: an idempotency key among them would be that of none. */
const WITHOUT_KEY = { headers: {}, headersDistinct: {} };

/** Returns a command, or a subscription, of a websocket as a request: without an answer of its own to write to. */
function requestOf(
  req: IncomingMessage,
  given: { threadId: string; caller: HandlerRequest['caller']; body: unknown; requestId: string; log: Logger },
): HandlerRequest {
  const { threadId, caller, body, requestId, log } = given;
  const res = { getHeader: (name: string) => (name === 'x-request-id' ? requestId : undefined) };
  return {
    params: { thread_id: threadId },
    query: {},
    body,
    caller,
    headers: req.headers,
    signal: new AbortController().signal,
    raw: WITHOUT_KEY,
    res,
    log,
  } as unknown as HandlerRequest;
}

function refuse(socket: Duplex, error: unknown, logger: Logger): void {
  if (!(error instanceof AppError)) {
    logger.error('upgrade failed unexpectedly', { error });
    socket.end(`HTTP/1.1 500 ${STATUS_CODES[500]}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
    return;
  }
  refuseUpgrade(socket, error);
}
