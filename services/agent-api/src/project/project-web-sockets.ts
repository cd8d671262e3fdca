import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isHopByHop } from '@runyard/contracts/hop-by-hop';
import {
  AppError,
  BadGatewayError,
  endAfterAnswer,
  headOf,
  joinSockets,
  type Lifecycle,
  type Logger,
  refuseUpgrade,
  UnavailableError,
} from '@runyard/service-kit';

/** The place of a project's app, and the headers with which a request goes there. */
export interface AppTarget {
  socketPath: string;
  headers: Record<string, string | string[] | undefined>;
}

/**
 * Passes websockets through to the project's app: once it agrees, bytes go both ways untouched. They end when the
 * server stops.
 */
export class ProjectWebSockets {
  readonly #open = new Set<Duplex>();
  readonly #target: (req: IncomingMessage) => Promise<AppTarget>;
  readonly #logger: Logger;

  /** @param options.target admits the caller, or throws the error that refuses the websocket */
  constructor(options: {
    target: (req: IncomingMessage) => Promise<AppTarget>;
    lifecycle: Pick<Lifecycle, 'onStop'>;
    logger: Logger;
  }) {
    this.#target = options.target;
    this.#logger = options.logger;
    options.lifecycle.onStop('websockets of the project', () => {
      for (const socket of this.#open) socket.destroy();
    });
  }

  readonly onUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    this.#open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#open.delete(socket));
    this.#target(req)
      .then((target) => forward(req, socket, head, target))
      .catch((error: unknown) => this.#refuse(socket, error));
  };

  #refuse(socket: Duplex, error: unknown): void {
    if (!(error instanceof AppError)) this.#logger.error('upgrade failed unexpectedly', { error });
    refuseUpgrade(
      socket,
      error instanceof AppError ? error : new BadGatewayError('The upgrade failed', { code: 'upgrade_failed' }),
    );
  }
}

function forward(req: IncomingMessage, socket: Duplex, head: Buffer, { socketPath, headers }: AppTarget): void {
  const asked = httpRequest({
    socketPath,
    path: req.url,
    headers: { ...headers, connection: 'Upgrade', upgrade: req.headers.upgrade },
    agent: false,
    setHost: false,
  });
  const leave = () => asked.destroy();
  socket.once('close', leave);
  asked.once('error', (cause) => {
    refuseUpgrade(
      socket,
      new UnavailableError('The project did not answer', { code: 'project_unresponsive', cause, retryAfterSeconds: 1 }),
    );
  });
  asked.once('response', (answer) => {
    socket.write(headOf(answer.statusCode ?? 502, [...endToEnd(answer), 'connection', 'close']));
    answer.once('error', () => socket.destroy());
    endAfterAnswer(socket);
    answer.pipe(socket);
  });
  asked.once('upgrade', (answer, appSocket: Socket, appHead) => {
    socket.off('close', leave);
    const upgraded = ['connection', 'Upgrade', 'upgrade', answer.headers.upgrade ?? 'websocket'];
    socket.write(headOf(101, [...endToEnd(answer), ...upgraded]));
    if (appHead.length > 0) socket.write(appHead);
    if (head.length > 0) appSocket.write(head);
    joinSockets(socket, appSocket);
  });
  asked.end();
}

/** Returns the headers that are not about the connection, names and values in turn. */
function endToEnd({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => !isHopByHop(rawHeaders[index - (index % 2)]!.toLowerCase()));
}
