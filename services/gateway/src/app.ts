import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { PrincipalClaims } from '@runyard/contracts';
import {
  AppError,
  allowAnyOrigin,
  answerError,
  asksForOtherProtocol,
  BadGatewayError,
  ClientDisconnectedError,
  checkTarget,
  ErrorMetrics,
  refuseUpgrade,
  requestIdOf,
  type ServiceContext,
  serveWithoutUpgrade,
  splitAbsoluteTarget,
  UnavailableError,
} from '@runyard/service-kit';
import type { Dispatcher } from 'undici';
import { type KeyCache, subjectsOfClaims } from './authentication/key-cache.ts';
import type { OpenExchanges } from './authentication/open-exchanges.ts';
import type { ArrivalDelay } from './limits/arrival-delay.ts';
import type { OpenRuns } from './limits/open-runs.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import { openRequestBody, type RequestBody } from './limits/request-body.ts';
import { RequestLimit } from './limits/request-limit.ts';
import type { Continuation } from './proxy/answer-relay.ts';
import { type ContinuationRequest, continueAnswer } from './proxy/continue-answer.ts';
import { forward } from './proxy/forward.ts';
import { type RequestHeaderOptions, requestHeaders } from './proxy/headers.ts';
import { originHeaders } from './proxy/origin-rules.ts';
import type { UnresponsiveUpstreams } from './proxy/unresponsive-upstreams.ts';
import { forwardUpgrade } from './proxy/upgrade.ts';
import { upstreamFailure } from './proxy/upstream-error.ts';
import { RequestRecords } from './request-records.ts';
import type { ClientAddresses } from './requests/client-address.ts';
import { checkHost, hostNameOf, requestedHost } from './requests/request-host.ts';
import type { ConsoleHost } from './routing/console-host.ts';
import type { DeploymentHosts } from './routing/deployment-hosts.ts';
import type { ProtectedResources } from './routing/protected-resources.ts';
import { type Destination, resolveAtConsole, resolveAtHost, resolvePath, sourceOf } from './routing/resolve-path.ts';
import type { RootDeployment } from './routing/root-deployment.ts';
import type { RoutePlan, RoutePlanner } from './routing/route-plan.ts';

export interface GatewayParts {
  context: ServiceContext;
  /** Answers the gateway's own paths. */
  own: RequestListener;
  consoleHost: ConsoleHost;
  hosts: DeploymentHosts;
  root: RootDeployment;
  planner: RoutePlanner;
  resources: ProtectedResources;
  keys: KeyCache;
  rateLimits: RateLimits;
  openRuns: OpenRuns;
  arrivalDelay: ArrivalDelay;
  addresses: ClientAddresses;
  internalToken: string;
  exchanges: OpenExchanges;
  dispatcher: Dispatcher;
  unresponsiveUpstreams: UnresponsiveUpstreams;
  bodyLimitBytes: number;
  /** Milliseconds that callers whom the platform does not know may take to send its services a body. */
  strangersBodyMs: number;
}

const OWN_PATHS: ReadonlySet<string> = new Set(['/', '/ok', '/metrics']);
/** Health and metrics of the gateway, also where a deployment at the root has the paths that they have without it. */
const INTERNAL = '/internal';
const OWN_INTERNAL_PATHS: ReadonlySet<string> = new Set(['/internal/ok', '/internal/metrics']);

/** The edge: it resolves and admits each request, and passes it on as it comes. */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #records: RequestRecords;
  readonly #errors: ErrorMetrics;
  readonly #upgraded = new Set<Duplex>();

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.#records = new RequestRecords(parts.context);
    this.#errors = new ErrorMetrics(parts.context.metrics, 'runyard_');
  }

  readonly onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    if (this.#parts.arrivalDelay.takeProbe(req)) return;
    const destination = this.#resolve(req);
    if (destination === 'own') this.#answerItself(req, res);
    else void this.#serve(req, res, destination);
  };

  #answerItself(req: IncomingMessage, res: ServerResponse): void {
    const { url = '/' } = req;
    if (url.startsWith(INTERNAL)) req.url = url.slice(INTERNAL.length);
    this.#parts.own(req, res);
  }

  /** Serves upgrades of connections; `server` is the one that got the request. */
  onUpgrade(server: Server, req: IncomingMessage, socket: Duplex, head: Buffer): void {
    const destination = this.#resolve(req);
    if (destination === 'own' || destination.kind !== 'deployment' || !asksForOtherProtocol(req)) {
      serveWithoutUpgrade(server, req, socket, head);
      return;
    }
    socket.on('error', () => socket.destroy());
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    this.#serveUpgrade(req, destination, socket, head).catch((error: unknown) => {
      this.#parts.context.logger.error('upgrade failed unexpectedly', { error });
      socket.destroy();
    });
  }

  /** Destroys upgraded sockets, which the server itself no longer tracks. */
  closeUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  /**
   * Resolves a request by its host first: that of the console, then those of deployments. Any other host is the
   * platform's, whose paths decide then.
   */
  #resolve(req: IncomingMessage): Destination | 'own' {
    const { consoleHost, hosts, root, addresses } = this.#parts;
    splitAbsoluteTarget(req);
    const url = req.url ?? '/';
    const host = hostNameOf(requestedHost(req, addresses.trustsHeadersOf(req)) ?? '');
    if (consoleHost.has(host)) return resolveAtConsole(url);
    if (hosts.isDeploymentHost(host)) return resolveAtHost(host, url);
    const path = url.split('?', 1)[0]!;
    if (OWN_INTERNAL_PATHS.has(path)) return 'own';
    const hasRoot = root.isStanding;
    return OWN_PATHS.has(path) && !hasRoot ? 'own' : resolvePath(url, { hasRoot });
  }

  async #serve(req: IncomingMessage, res: ServerResponse, destination: Destination): Promise<void> {
    const { context, bodyLimitBytes, strangersBodyMs } = this.#parts;
    const requestId = requestIdOf(req);
    const ownHeaders = ownHeadersOf(requestId, destination);
    const record = this.#records.begin(req, res, { destination, requestId });
    const releases: (() => void)[] = [];
    res.once('close', () => {
      for (const release of releases) release();
    });
    try {
      this.#refuseDelayed();
      checkTarget(req);
      checkHost(req, this.#parts.addresses.trustsHeadersOf(req));
      context.admission.enter(res);
      const address = this.#parts.addresses.publicAddressOf(req);
      const resource = this.#parts.resources.describe(req, destination, address);
      const limit = this.#limitOf(req);
      if (resource) {
        ownHeaders.push(...limit.take({ isSignIn: false }));
        sendPublicly(res, resource, ownHeaders);
        return;
      }
      const { routePlan, rateHeaders } = await this.#plan(req, destination, limit);
      ownHeaders.push(...rateHeaders);
      if (res.closed) return;
      const release = this.#track(routePlan, () => res.destroy());
      releases.push(release);
      releases.push(this.#countRun(routePlan));
      // Room is checked before the body is read: a refusal must cost little.
      routePlan.load.withRoom(routePlan.upstreams);
      const isUnbounded = destination.kind === 'service' && destination.limitsBodies;
      const isOfStranger = destination.kind === 'service' && !destination.isUpload && !routePlan.caller.principal;
      const limitBytes = isUnbounded ? Number.POSITIVE_INFINITY : bodyLimitBytes;
      const body = await openRequestBody(req, res, limitBytes, isOfStranger ? strangersBodyMs : undefined);
      await this.#forward(req, res, { routePlan, destination, body, requestId, ownHeaders, limit }).catch(
        (error: unknown) => {
          throw error instanceof ClientDisconnectedError || res.destroyed
            ? new ClientDisconnectedError(error)
            : upstreamFailure(error, routePlan.name);
        },
      );
    } catch (error) {
      if (!res.headersSent) {
        setHeaders(res, ownHeaders);
        // A page that may not call learns nothing of what runs on its reader's machine.
        const isForeign = error instanceof AppError && error.code === 'foreign_page';
        if (destination.kind === 'deployment' && !isForeign) allowAnyOrigin(res);
        const challenge = error instanceof AppError && this.#challenge(req, destination, error.status, undefined);
        if (challenge) res.setHeader('www-authenticate', challenge);
      }
      const log = context.logger.child({ requestId });
      record.errorCode = answerError(req, res, error, { log, errors: this.#errors });
    }
  }

  async #forward(
    req: IncomingMessage,
    res: ServerResponse,
    parts: {
      routePlan: RoutePlan;
      destination: Destination;
      body: RequestBody;
      requestId: string;
      ownHeaders: readonly string[];
      limit: RequestLimit;
    },
  ): Promise<void> {
    const { routePlan, destination, body, requestId, ownHeaders, limit } = parts;
    const isToDeployment = destination.kind === 'deployment';
    const continuation = await forward(req, res, {
      ...this.#forwardOptions(req, destination, ownHeaders, routePlan),
      target: routePlan.target,
      headers: this.#headers(req, routePlan, requestId, isToDeployment ? { handoff: 'accepted' } : {}),
      body,
    });
    if (!isToDeployment && res.statusCode === 401) limit.countFailure();
    if (!continuation) return;
    if (isToDeployment)
      await continueAnswer(res, continuation, (next) =>
        this.#planContinuation(req, { destination, requestId, ownHeaders, limit }, next),
      );
    else throw new Error('a service of the platform cannot hand off an answer');
  }

  /**
   * Plans the request for a continuation. The caller is admitted anew: its key may have been revoked since, and its
   * token is old.
   */
  async #planContinuation(
    req: IncomingMessage,
    {
      destination,
      requestId,
      ownHeaders,
      limit: { check },
    }: {
      destination: Destination & { kind: 'deployment' };
      requestId: string;
      ownHeaders: readonly string[];
      limit: RequestLimit;
    },
    { path, afterId }: Continuation,
  ): Promise<ContinuationRequest> {
    const routePlan = await this.#parts.planner.plan({ req, check }, { ...destination, target: path });
    const headers = this.#headers(req, routePlan, requestId, { handoff: { afterId } });
    return { ...this.#forwardOptions(req, destination, ownHeaders, routePlan), headers };
  }

  #forwardOptions(
    req: IncomingMessage,
    destination: Destination,
    ownHeaders: readonly string[],
    { upstreams, load, caller }: RoutePlan,
  ): Omit<ContinuationRequest, 'headers'> {
    const { context, dispatcher, unresponsiveUpstreams, planner } = this.#parts;
    const isLast = () => context.lifecycle.isDraining;
    const challengeFor = (status: number) => this.#challenge(req, destination, status, caller.principal?.claims);
    const { avoid } = planner;
    const source = sourceOf(destination);
    return { dispatcher, unresponsiveUpstreams, upstreams, load, source, ownHeaders, challengeFor, isLast, avoid };
  }

  #challenge(
    req: IncomingMessage,
    destination: Destination,
    status: number,
    claims: PrincipalClaims | undefined,
  ): string | undefined {
    if (status !== 401 && status !== 403) return undefined;
    const { resources, addresses } = this.#parts;
    return resources.challenge(destination, addresses.publicAddressOf(req), { status, claims });
  }

  async #serveUpgrade(req: IncomingMessage, destination: Destination, socket: Duplex, head: Buffer): Promise<void> {
    const { context } = this.#parts;
    const requestId = requestIdOf(req);
    const record = this.#records.beginUpgrade(req, socket, destination);
    try {
      if (context.lifecycle.isDraining)
        throw new UnavailableError('The gateway is shutting down', { code: 'service_stopping', retryAfterSeconds: 1 });
      this.#refuseDelayed();
      checkTarget(req);
      checkHost(req, this.#parts.addresses.trustsHeadersOf(req));
      context.admission.enter(socket);
      const limit = this.#limitOf(req);
      const { routePlan, rateHeaders } = await this.#plan(req, destination, limit);
      const ownHeaders = [...ownHeadersOf(requestId, destination), ...rateHeaders];
      if (socket.destroyed) return;
      socket.once(
        'close',
        this.#track(routePlan, () => socket.destroy()),
      );
      const headers = this.#headers(req, routePlan, requestId);
      const { upstreams, load, target, name } = routePlan;
      const source = sourceOf(destination);
      const { takeMessage } = limit;
      const forwarded = { upstreams, load, target, headers, ownHeaders, source, name, takeMessage };
      forwardUpgrade(req, socket, head, forwarded);
    } catch (error) {
      if (!(error instanceof AppError)) context.logger.error('upgrade failed unexpectedly', { requestId, error });
      const refusal =
        error instanceof AppError ? error : new BadGatewayError('The upgrade failed', { code: 'upgrade_failed' });
      this.#errors.count(refusal.code);
      record.status = refusal.status;
      record.errorCode = refusal.code;
      refuseUpgrade(socket, refusal);
    }
  }

  #headers(
    req: IncomingMessage,
    { caller, prefix, platformCookies, isService }: RoutePlan,
    requestId: string,
    further: Pick<RequestHeaderOptions, 'handoff'> = {},
  ): string[] {
    const { addresses, internalToken } = this.#parts;
    const [clientAddress, trustForwarded] = [addresses.clientOf(req), addresses.trustsHeadersOf(req)];
    const ofPlan = { caller, prefix, platformCookies, internalToken: isService ? internalToken : undefined };
    return requestHeaders(req, { ...ofPlan, requestId, clientAddress, trustForwarded, ...further });
  }

  /** Refuses requests that waited too long, before any work is done for them. @throws UnavailableError */
  #refuseDelayed(): void {
    if (!this.#parts.arrivalDelay.isTooLong) return;
    throw new UnavailableError('Requests wait too long at the moment', {
      retryAfterSeconds: 1,
      code: 'arrival_delay_exceeded',
    });
  }

  #limitOf(req: IncomingMessage): RequestLimit {
    const { keys, rateLimits: limits, addresses } = this.#parts;
    return new RequestLimit({ keys, limits, address: addresses.of(req) });
  }

  /** Plans a request and counts it, also one that is refused. @throws TooManyRequestsError */
  async #plan(
    req: IncomingMessage,
    destination: Destination,
    limit: RequestLimit,
  ): Promise<{ routePlan: RoutePlan; rateHeaders: string[] }> {
    const isSignIn = destination.kind === 'service';
    const routePlan = await this.#parts.planner
      .plan({ req, check: limit.check }, destination)
      .catch((error: unknown) => {
        limit.take({ isSignIn });
        throw error;
      });
    return { routePlan, rateHeaders: limit.take({ isSignIn }) };
  }

  /** Counts the run that a request keeps going. Returns a function to call at its end. @throws TooManyRequestsError */
  #countRun({ runOwner, caller }: RoutePlan): () => void {
    if (!runOwner) return () => undefined;
    return this.#parts.openRuns.take({ ...runOwner, claims: caller.principal?.claims });
  }

  /** Tracks an exchange with a key or a session. Returns a function to call at its end. @throws TooManyRequestsError */
  #track({ caller }: RoutePlan, cut: () => void): () => void {
    const claims = caller.principal?.claims;
    const credentialId = claims?.key_id ?? claims?.session_id;
    if (!claims || credentialId === undefined || !caller.recheck) return () => undefined;
    const { permissions } = claims;
    const subjects = subjectsOfClaims(claims);
    return this.#parts.exchanges.add({ credentialId, subjects, permissions, recheck: caller.recheck, cut });
  }
}

/** Answers with what every page may read. */
function sendPublicly(res: ServerResponse, body: object, ownHeaders: readonly string[]): void {
  setHeaders(res, ownHeaders);
  allowAnyOrigin(res);
  const text = JSON.stringify(body);
  const length = Buffer.byteLength(text);
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': length, 'cache-control': 'no-store' });
  res.end(text);
}

/** Returns the headers, names and values, that an answer gets from the gateway, also when the gateway refuses. */
function ownHeadersOf(requestId: string, destination: Destination): string[] {
  return ['x-request-id', requestId, ...originHeaders(sourceOf(destination))];
}

/** @param headers names and values */
function setHeaders(res: ServerResponse, headers: readonly string[]): void {
  for (let index = 0; index < headers.length; index += 2) res.setHeader(headers[index]!, headers[index + 1]!);
}
