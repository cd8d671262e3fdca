import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { HANDOVER_HEADER, type Operation, PRINCIPAL_HEADER } from '@runyard/contracts';
import { isHopByHop } from '@runyard/contracts/hop-by-hop';
import { DEPTH_HEADER, EXCHANGE_HEADER, LOOPBACK_HEADER, type ProjectExport } from '@runyard/graph-host';
import type { OutboundAnswer, OutboundRequest } from '@runyard/outbound';
import {
  type BoundOperation,
  breakOff,
  ClientGoneError,
  leaveInFlight,
  type Principal,
  type PrincipalVerifier,
  type Request,
  type RequestHandler,
  type Response,
  RouteTable,
  tooLarge,
  UnavailableError,
} from '@runyard/service-kit';
import type { HttpSettings } from '../http/http-settings.ts';
import { requirePermission } from '../permissions.ts';
import type { OwnServer } from './own-server.ts';
import { pathFilter } from './path-filter.ts';
import { sendToApp } from './send-to-app.ts';
import type { ServedAppHost } from './serving-host.ts';

type GuardedRoute = Pick<Operation, 'method' | 'path' | 'access' | 'permission'>;

export interface ProjectAppOptions {
  source: ProjectExport;
  host: ServedAppHost;
  own: OwnServer;
  principal: PrincipalVerifier;
  /** What the server itself serves: which of it is for everybody, and what each operation demands. */
  operations: readonly GuardedRoute[];
  /** Whether a caller's role is looked at before the app sees the request. */
  permissionFirst: boolean;
  bodyLimitBytes: number;
}

/** What every service has included. */
const FOR_EVERYBODY: readonly GuardedRoute[] = ['/ok', '/metrics', '/docs', '/openapi.json'].map((path) => ({
  method: 'get',
  path,
  access: 'public',
}));

/** What the project's code has no business with. An answer that goes through it cannot be handed over: it would look whole. */
const OURS: ReadonlySet<string> = new Set([PRINCIPAL_HEADER, LOOPBACK_HEADER, EXCHANGE_HEADER, HANDOVER_HEADER]);

/** Label of requests that the app answered itself: its own paths may be without end. */
const ROUTE = 'project app';

/**
 * The project's HTTP app in front of the server's own routes. The app sees requests of known callers alone; what none of
 * its routes or middleware is made for never goes to it, and what it does not answer comes back over the server's socket.
 */
export class ProjectApp {
  readonly #options: ProjectAppOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #routes = new RouteTable<GuardedRoute>();
  readonly #sockets = new WeakMap<object, Promise<string>>();
  #concerns: (path: string) => boolean = () => true;
  #openApi: Record<string, unknown> | null = null;

  constructor(options: ProjectAppOptions) {
    this.#options = options;
    for (const operation of options.operations) {
      const { method, path } = operation;
      if (this.#routes.find(method.toUpperCase(), path).kind !== 'found') this.#routes.add(method, path, operation);
    }
  }

  /** @throws GraphLoadError when the app cannot be loaded */
  async start(): Promise<void> {
    await this.#socketPath();
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Its routes as an OpenAPI document, if it describes them. Known once it has started. */
  get openApi(): Record<string, unknown> | undefined {
    return this.#openApi ?? undefined;
  }

  /** Asks the app itself, in nobody's name: what it does not answer is 403, and goes no further. */
  async send(path: string, request: OutboundRequest): Promise<Pick<OutboundAnswer, 'status' | 'headers'>> {
    return sendToApp(await this.#socketPath(), this.#agent, path, request);
  }

  readonly handler: RequestHandler = (req, res, next) => {
    if (this.#options.own.isInner(req) || !this.#concerns(req.path)) next();
    else this.#serve(req, res).then((isServed) => isServed || next(), next);
  };

  async #serve(req: Request, res: Response): Promise<boolean> {
    const { own, bodyLimitBytes, permissionFirst } = this.#options;
    const match = this.#routes.find(req.method, req.path);
    const operation = match.kind === 'found' ? match.target : undefined;
    const caller = await this.#callerOf(req, operation);
    if (caller === undefined) return false;
    if (permissionFirst && operation?.permission) requirePermission(caller, operation.permission);
    res.locals.route = ROUTE;
    const socketPath = await this.#socketPath().catch((cause) => {
      throw new UnavailableError('The project cannot be loaded at the moment', { cause, retryAfterSeconds: 5 });
    });
    const headers = {
      ...headersFor(req, own.isOwn(req)),
      'x-request-id': String(res.getHeader('x-request-id') ?? ''),
      [EXCHANGE_HEADER]: own.openExchange({ caller, outer: res }),
    };
    await exchange(req, res, { socketPath, agent: this.#agent, headers, bodyLimitBytes });
    return true;
  }

  /** Nobody, where everybody is served: strangers are answered without the project's code. */
  async #callerOf(req: Request, operation: GuardedRoute | undefined): Promise<Principal | undefined> {
    try {
      return await this.#options.principal.authenticate(req);
    } catch (error) {
      if (operation?.access === 'public') return undefined;
      throw error;
    }
  }

  /** Where the app of the host that runs now listens; a new host loads it anew. */
  async #socketPath(): Promise<string> {
    const { host, source, own } = this.#options;
    const running = await host.available();
    let socket = this.#sockets.get(running);
    if (!socket) {
      const path = own.folder.newPath();
      socket = running.serveApp(source, path).then(({ paths, openApi }) => {
        this.#concerns = pathFilter(paths);
        this.#openApi = openApi;
        return path;
      });
      this.#sockets.set(running, socket);
      socket.catch(() => this.#sockets.delete(running));
    }
    return socket;
  }
}

/** The project's app, started; undefined when the project has none. */
export async function openProjectApp(
  source: ProjectExport | null,
  parts: Pick<ProjectAppOptions, 'host' | 'own' | 'principal'> & {
    http: HttpSettings;
    operations: readonly BoundOperation[];
    config: { HTTP_MAX_REQUEST_BODY_BYTES: number };
  },
): Promise<ProjectApp | undefined> {
  if (source === null) return undefined;
  const { host, own, principal, http, config } = parts;
  const operations = [...parts.operations.map(({ operation }) => operation), ...FOR_EVERYBODY];
  const app = new ProjectApp({
    source,
    host,
    own,
    principal,
    operations: operations.filter((operation) => !http.isDisabled(operation)),
    permissionFirst: http.permissionFirst,
    bodyLimitBytes: config.HTTP_MAX_REQUEST_BODY_BYTES,
  });
  await app.start();
  return app;
}

function headersFor(req: IncomingMessage, isOwn: boolean): Record<string, string | string[] | undefined> {
  const headers: Record<string, string | string[] | undefined> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    const isOurs = OURS.has(name);
    if (isHopByHop(name) || isOurs || (name === DEPTH_HEADER && !isOwn)) continue;
    headers[name] = value;
  }
  return headers;
}

/** Asks the app and passes its answer on as it comes; hangs up there when the client hangs up here. */
function exchange(
  req: Request,
  res: Response,
  options: {
    socketPath: string;
    agent: Agent;
    headers: Record<string, string | string[] | undefined>;
    bodyLimitBytes: number;
  },
): Promise<void> {
  const { socketPath, agent, headers, bodyLimitBytes } = options;
  return new Promise((resolve, reject) => {
    if (Number(req.headers['content-length'] ?? 0) > bodyLimitBytes) throw tooLarge(bodyLimitBytes);
    const asked = httpRequest({ socketPath, agent, method: req.method, path: req.url, headers, setHost: false });
    const leave = () => {
      asked.destroy();
      reject(new ClientGoneError());
    };
    res.once('close', leave);
    asked.once('response', (answer) => {
      // A stream, or an answer that is waited for: what it costs is bounded where it is made.
      if (answer.headers['content-length'] === undefined) leaveInFlight(res);
      res.writeHead(answer.statusCode ?? 502, returned(answer));
      res.flushHeaders();
      answer.once('error', () => breakOff(res));
      answer.pipe(res);
      res.once('finish', () => {
        res.off('close', leave);
        resolve();
      });
    });
    asked.once('error', (cause) => {
      if (res.headersSent) return;
      res.off('close', leave);
      reject(cause.name === 'PayloadTooLargeError' ? cause : unavailable(cause));
    });
    let sentBytes = 0;
    req.on('data', (chunk: Buffer) => {
      sentBytes += chunk.length;
      if (sentBytes <= bodyLimitBytes) return;
      req.unpipe(asked);
      asked.destroy(tooLarge(bodyLimitBytes));
    });
    req.pipe(asked);
  });
}

function unavailable(cause: Error): UnavailableError {
  return new UnavailableError('The project did not answer', { cause, retryAfterSeconds: 1 });
}

function returned({ headers }: IncomingMessage): Record<string, string | string[]> {
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !isHopByHop(entry[0]),
  );
  return Object.fromEntries(entries);
}
