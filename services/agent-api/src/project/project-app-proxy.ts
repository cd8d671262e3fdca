import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Operation, OperationAccess } from '@runyard/contracts';
import { framingOf, isHopByHop } from '@runyard/contracts/hop-by-hop';
import { DEPTH_HEADER, EXCHANGE_HEADER, encodeUser, type ProjectExport, USER_HEADER } from '@runyard/host-protocol';
import type { OutboundRequest, OutboundResponse } from '@runyard/outbound';
import {
  abortResponse,
  authorize,
  type BoundOperation,
  ClientDisconnectedError,
  type CorsRules,
  excludeFromInFlight,
  type Principal,
  type PrincipalVerifier,
  payloadTooLargeError,
  type Request,
  type RequestHandler,
  type Response,
  RouteTable,
  traceContextOf,
  UnavailableError,
} from '@runyard/service-kit';
import type { Authorizer } from '../auth/authorizer.ts';
import type { StreamRights } from '../auth/stream-rights.ts';
import { userOf } from '../auth/user-caller.ts';
import type { CustomRoutePolicy } from '../http/custom-routes.ts';
import type { HttpSettings } from '../http/http-settings.ts';
import { PLATFORM_HEADERS } from '../http/platform-headers.ts';
import { requireSocketOrigin } from '../http/socket-origin.ts';
import { CustomRouteAccess } from './custom-route-access.ts';
import { pathFilter, routeFilter } from './path-filter.ts';
import type { AppHostProvider } from './project-host.ts';
import type { ProjectLoopback } from './project-loopback.ts';
import type { AppTarget } from './project-web-sockets.ts';
import { sendToApp } from './send-to-app.ts';

type GuardedRoute = Pick<Operation, 'method' | 'path'> & OperationAccess;

export interface ProjectAppProxyOptions {
  source: ProjectExport;
  host: AppHostProvider;
  loopback: ProjectLoopback;
  principal: PrincipalVerifier;
  /** The server's own operations, with the access that each demands. */
  operations: readonly GuardedRoute[];
  /** Asks the handlers of the project's `auth.path`; undefined for a project without. */
  authorizer?: Pick<Authorizer, 'authorize'> | undefined;
  /** Asks again about the callers of open websockets; undefined for a project without `auth.path`. */
  rights?: Pick<StreamRights, 'watchCall'> | undefined;
  customRoutes: CustomRoutePolicy;
  /** Names the pages that may open websockets of the app. */
  cors: Pick<CorsRules, 'origins' | 'originPattern'>;
  /**
   * True when the server looks at who calls, and at a caller's role, before middleware sees a request for one of its
   * own routes.
   */
  authFirst: boolean;
  bodyLimitBytes: number;
}

/** Operations that every service has. */
const COMMON_OPERATIONS: readonly GuardedRoute[] = ['/ok', '/metrics', '/docs', '/openapi.json'].map((path) => ({
  method: 'get',
  path,
  access: 'public',
}));

/** Operations that answer probes, which must not wait for the project's code. */
const PROBED: ReadonlySet<string> = new Set(['/ok', '/metrics']);

/** The metrics label of requests that the app answered itself: its own paths may be unbounded. */
const ROUTE = 'project app';

/**
 * Puts the project's HTTP app in front of the server's own routes. Whose requests for its own routes the app sees, is
 * for `CustomRouteAccess`; of the others it sees those of authenticated callers, and middleware of a project with
 * `auth.path` sees all. A request that none of its routes or middleware matches never goes to it, and one that it does
 * not answer comes back over the server's socket.
 */
export class ProjectAppProxy {
  readonly #options: ProjectAppProxyOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #access: CustomRouteAccess;
  readonly #routes = new RouteTable<GuardedRoute>();
  readonly #sockets = new WeakMap<object, Promise<string>>();
  #mayMatch: (path: string) => boolean = () => true;
  #mayAnswer: (method: string, path: string) => boolean = () => true;
  #openApi: Record<string, unknown> | null = null;
  #hasWebSockets = false;

  constructor(options: ProjectAppProxyOptions) {
    this.#options = options;
    const { principal, authorizer, customRoutes: policy } = options;
    this.#access = new CustomRouteAccess({ principal, authorizer, policy });
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

  /** The app's routes as an OpenAPI document, if it describes them. It is known once the app has started. */
  get openApi(): Record<string, unknown> | undefined {
    return this.#openApi ?? undefined;
  }

  /** True when the app answers websockets. It is known once the app has started. */
  get hasWebSockets(): boolean {
    return this.#hasWebSockets;
  }

  /**
   * Admits a websocket as a request for a route of the app is, and from no other page than one of the platform's own. It
   * is cut when the project refuses its caller later.
   *
   * @throws ForbiddenError; what `CustomRouteAccess` throws
   */
  readonly admitWebSocket = async (req: IncomingMessage): Promise<AppTarget> => {
    requireSocketOrigin(req.headers, this.#options.cors);
    const caller = await this.#callerOfRoute(req);
    const { socket } = req;
    if (caller) {
      const stream = { req, caller, connection: socket, end: () => void socket.destroy() };
      this.#options.rights?.watchCall(stream, (current) => this.#access.requireCall(current, req));
    }
    return { socketPath: await this.#requireSocketPath(), headers: headersFor(req, caller, false) };
  };

  /**
   * Sends a request to the app itself, without a caller: one that the app does not answer is 403, and goes no further.
   */
  async send(path: string, request: OutboundRequest): Promise<Pick<OutboundResponse, 'status' | 'headers'>> {
    return sendToApp(await this.#socketPath(), this.#agent, path, request);
  }

  readonly handler: RequestHandler = (req, res, next) => {
    if (this.#options.loopback.isInner(req) || !this.#mayMatch(req.path)) next();
    else this.#serve(req, res).then((isServed) => isServed || next(), next);
  };

  async #serve(req: Request, res: Response): Promise<boolean> {
    const { loopback, bodyLimitBytes, authFirst } = this.#options;
    const match = this.#routes.find(req.method, req.path);
    const operation = match.kind === 'found' ? match.target : undefined;
    let caller: Principal | undefined;
    if (operation === undefined) caller = await this.#callerOfRoute(req);
    else if (!this.#isForMiddleware(req, operation)) {
      caller = await this.#callerOf(req, operation);
      if (caller === undefined) return false;
      if (authFirst) authorize(caller, operation);
    }
    res.locals.route = ROUTE;
    const socketPath = await this.#requireSocketPath();
    const headers = {
      ...headersFor(req, caller, loopback.isOwn(req)),
      'x-request-id': String(res.getHeader('x-request-id') ?? ''),
      [EXCHANGE_HEADER]: loopback.openExchange({ caller, outer: res }),
    };
    await proxyToApp(req, res, { socketPath, agent: this.#agent, headers, bodyLimitBytes });
    return true;
  }

  /**
   * Returns whether the app has nothing but middleware for a request, which sees it before anybody asks who calls: it may
   * put there what says so. Only projects that decide about callers themselves choose that.
   */
  #isForMiddleware(req: Request, { access }: GuardedRoute): boolean {
    const { authorizer, authFirst, loopback } = this.#options;
    if (authorizer === undefined || authFirst || access === 'public' || loopback.isOwnByClaim(req)) return false;
    return !this.#mayAnswer(req.method, req.path);
  }

  /** Returns undefined for a stranger on a public operation, who is answered without the project's code. */
  async #callerOf(req: Request, { access, path }: GuardedRoute): Promise<Principal | undefined> {
    const { authorizer, principal } = this.#options;
    if (authorizer && PROBED.has(path)) return undefined;
    try {
      return await principal.authenticate(req);
    } catch (error) {
      if (access === 'public') return undefined;
      throw error;
    }
  }

  /** Returns undefined where nobody is asked who they are. */
  async #callerOfRoute(req: IncomingMessage): Promise<Principal | undefined> {
    const isStranger = this.#access.isOpen(req) && !this.#options.loopback.isOwnByClaim(req);
    return isStranger ? undefined : this.#access.requireCaller(req);
  }

  async #requireSocketPath(): Promise<string> {
    try {
      return await this.#socketPath();
    } catch (cause) {
      throw new UnavailableError('The project cannot be loaded at the moment', {
        code: 'project_not_loaded',
        cause,
        retryAfterSeconds: 5,
      });
    }
  }

  /** Returns where the app of the running host listens; a new host loads it anew. */
  async #socketPath(): Promise<string> {
    const { host, source, loopback } = this.#options;
    const running = await host.requireRunning();
    let socket = this.#sockets.get(running);
    if (!socket) {
      const path = loopback.folder.pathForHost();
      socket = running.serveApp(source, path).then(async ({ paths, routes, openApi, hasWebSockets }) => {
        const taken = await loopback.folder.takeFromHost(path);
        this.#mayMatch = pathFilter(paths);
        this.#mayAnswer = routeFilter(routes);
        this.#openApi = openApi;
        this.#hasWebSockets = hasWebSockets;
        return taken;
      });
      this.#sockets.set(running, socket);
      socket.catch(() => this.#sockets.delete(running));
    }
    return socket;
  }
}

/** Starts the project's app; undefined when the project has none. */
export async function openProjectApp(
  source: ProjectExport | null,
  parts: Pick<ProjectAppProxyOptions, 'host' | 'loopback' | 'principal' | 'authorizer' | 'rights'> & {
    http: HttpSettings;
    operations: readonly BoundOperation[];
    config: { HTTP_MAX_REQUEST_BODY_BYTES: number };
  },
): Promise<ProjectAppProxy | undefined> {
  if (source === null) return undefined;
  const { host, loopback, principal, authorizer, rights, http, config } = parts;
  const operations = [...parts.operations.map(({ operation }) => operation), ...COMMON_OPERATIONS];
  const app = new ProjectAppProxy({
    source,
    host,
    loopback,
    principal,
    authorizer,
    rights,
    customRoutes: http.customRoutes,
    cors: http.cors,
    operations: operations.filter((operation) => !http.isDisabled(operation)),
    authFirst: http.authFirst,
    bodyLimitBytes: config.HTTP_MAX_REQUEST_BODY_BYTES,
  });
  await app.start();
  return app;
}

function headersFor(
  req: IncomingMessage,
  caller: Principal | undefined,
  isOwn: boolean,
): Record<string, string | string[] | undefined> {
  const headers: Record<string, string | string[] | undefined> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    const isPlatformHeader = PLATFORM_HEADERS.has(name);
    if (isHopByHop(name) || isPlatformHeader || (name === DEPTH_HEADER && !isOwn)) continue;
    headers[name] = value;
  }
  Object.assign(headers, framingOf(req.headers), traceContextOf(req.headers));
  const user = caller && userOf(caller);
  if (user) headers[USER_HEADER] = encodeUser(user);
  return headers;
}

/** Sends the request to the app and streams its answer back; disconnects there when the client disconnects here. */
function proxyToApp(
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
    if (Number(req.headers['content-length'] ?? 0) > bodyLimitBytes) throw payloadTooLargeError(bodyLimitBytes);
    const appRequest = httpRequest({ socketPath, agent, method: req.method, path: req.url, headers, setHost: false });
    const leave = () => {
      appRequest.destroy();
      reject(new ClientDisconnectedError());
    };
    res.once('close', leave);
    appRequest.once('response', (answer) => {
      // The answer is a stream, or one that is waited for: its cost is bounded where it is made.
      if (answer.headers['content-length'] === undefined) excludeFromInFlight(res);
      res.writeHead(answer.statusCode ?? 502, answerHeaders(answer));
      res.flushHeaders();
      answer.once('error', () => abortResponse(res));
      answer.pipe(res);
      res.once('finish', () => {
        res.off('close', leave);
        // The rest of a body that the app has not waited for goes nowhere, and its connection takes no other request.
        if (!appRequest.writableFinished) appRequest.destroy();
        resolve();
      });
    });
    appRequest.once('error', (cause) => {
      if (res.headersSent) return;
      res.off('close', leave);
      reject(cause.name === 'PayloadTooLargeError' ? cause : unavailable(cause));
    });
    let sentBytes = 0;
    req.on('data', (chunk: Buffer) => {
      sentBytes += chunk.length;
      if (sentBytes <= bodyLimitBytes) return;
      req.unpipe(appRequest);
      appRequest.destroy(payloadTooLargeError(bodyLimitBytes));
    });
    req.pipe(appRequest);
  });
}

function unavailable(cause: Error): UnavailableError {
  return new UnavailableError('The project did not answer', {
    code: 'project_unresponsive',
    cause,
    retryAfterSeconds: 1,
  });
}

function answerHeaders({ headers }: IncomingMessage): Record<string, string | string[]> {
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] => entry[1] !== undefined && !isHopByHop(entry[0]),
  );
  return Object.fromEntries(entries);
}
