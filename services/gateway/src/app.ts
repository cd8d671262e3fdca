import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  Admission,
  AppError,
  allowAnyOrigin,
  answerError,
  BadGatewayError,
  ClientGoneError,
  loggedPath,
  Refusals,
  RequestMetrics,
  requestIdOf,
  type ServiceContext,
  UnavailableError,
} from '@runyard/service-kit';
import type { Dispatcher } from 'undici';
import type { OpenExchanges } from './authentication/open-exchanges.ts';
import { type RequestBody, takeBody } from './limits/request-body.ts';
import type { Handover } from './proxy/answer-relay.ts';
import { type Continuation, continueAnswer } from './proxy/continue-answer.ts';
import { forward } from './proxy/forward.ts';
import { type ForwardedAs, requestHeaders } from './proxy/headers.ts';
import type { SilentUpstreams } from './proxy/silent-upstreams.ts';
import { forwardUpgrade, refuseUpgrade } from './proxy/upgrade.ts';
import { upstreamFailure } from './proxy/upstream-error.ts';
import type { DeploymentHosts } from './routing/deployment-hosts.ts';
import type { Itinerary, ItineraryPlanner } from './routing/itinerary.ts';
import { hostNameOf, requestedHost, splitAbsoluteTarget } from './routing/request-host.ts';
import { type Destination, resolveAtHost, resolvePath } from './routing/resolve-path.ts';

export interface GatewayParts {
  context: ServiceContext;
  /** Answers the gateway's own paths. */
  own: RequestListener;
  hosts: DeploymentHosts;
  planner: ItineraryPlanner;
  exchanges: OpenExchanges;
  dispatcher: Dispatcher;
  silentUpstreams: SilentUpstreams;
  bodyLimitBytes: number;
  trustForwarded: boolean;
}

const OWN_PATHS: ReadonlySet<string> = new Set(['/ok', '/metrics']);

/** The edge: each request is resolved, admitted, and passed on as it comes. */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #metrics: RequestMetrics;
  readonly #admission: Admission;
  readonly #refusals: Refusals;
  readonly #upgraded = new Set<Duplex>();

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    const { metrics, limits } = parts.context;
    this.#metrics = new RequestMetrics(metrics, 'runyard_');
    this.#refusals = new Refusals(metrics, 'runyard_');
    this.#admission = new Admission(limits, this.#refusals);
  }

  readonly onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const destination = this.#resolve(req);
    if (destination === 'own') this.#parts.own(req, res);
    else void this.#serve(req, res, destination);
  };

  readonly onUpgrade = (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => socket.destroy());
    this.#upgraded.add(socket);
    socket.on('close', () => this.#upgraded.delete(socket));
    this.#serveUpgrade(req, socket, head).catch((error: unknown) => {
      this.#parts.context.logger.error('upgrade failed unexpectedly', { error });
      socket.destroy();
    });
  };

  /** Ends what the server itself no longer counts as its own. */
  closeUpgraded(): void {
    for (const socket of this.#upgraded) socket.destroy();
  }

  /** The host decides first: what is no deployment's is the platform's, whose paths lead on. */
  #resolve(req: IncomingMessage): Destination | 'own' {
    const { hosts, trustForwarded } = this.#parts;
    splitAbsoluteTarget(req);
    const url = req.url ?? '/';
    const host = hostNameOf(requestedHost(req, trustForwarded) ?? '');
    if (hosts.isDeployments(host)) return resolveAtHost(host, url);
    return OWN_PATHS.has(url.split('?', 1)[0]!) ? 'own' : resolvePath(url);
  }

  async #serve(req: IncomingMessage, res: ServerResponse, destination: Destination): Promise<void> {
    const { context, bodyLimitBytes } = this.#parts;
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    this.#metrics.started();
    let release: (() => void) | undefined;
    res.once('close', () => {
      release?.();
      this.#finished(req, res, destination, requestId, startedAt);
    });
    try {
      this.#admission.enter(res);
      const itinerary = await this.#parts.planner.plan(req, destination);
      if (res.closed) return;
      release = this.#track(itinerary, () => res.destroy());
      // Before the body: a refusal must cost little.
      itinerary.load.withRoom(itinerary.upstreams);
      const isUnbounded = destination.kind === 'service' && destination.boundsBodies;
      const body = await takeBody(req, isUnbounded ? Number.POSITIVE_INFINITY : bodyLimitBytes);
      await this.#pass(req, res, { itinerary, destination, body, requestId }).catch((error: unknown) => {
        throw error instanceof ClientGoneError || res.destroyed
          ? new ClientGoneError(error)
          : upstreamFailure(error, itinerary.name);
      });
    } catch (error) {
      this.#countRefusal(error);
      if (!res.headersSent) {
        res.setHeader('x-request-id', requestId);
        if (destination.kind === 'deployment') allowAnyOrigin(res);
      }
      answerError(req, res, error, context.logger.child({ requestId }));
    }
  }

  async #pass(
    req: IncomingMessage,
    res: ServerResponse,
    parts: { itinerary: Itinerary; destination: Destination; body: RequestBody; requestId: string },
  ): Promise<void> {
    const { itinerary, destination, body, requestId } = parts;
    const isToDeployment = destination.kind === 'deployment';
    const handover = await forward(req, res, {
      ...this.#passing(requestId, itinerary),
      target: itinerary.target,
      headers: this.#headers(req, itinerary, requestId, isToDeployment ? { handover: 'accepted' } : {}),
      body,
    });
    if (!handover) return;
    if (isToDeployment)
      await continueAnswer(res, handover, (next) => this.#planRest(req, { destination, requestId }, next));
    else throw new Error('a service of the platform hands no answers over');
  }

  /** The caller is admitted anew: what it showed may have been revoked since, and its token is old. */
  async #planRest(
    req: IncomingMessage,
    { destination, requestId }: { destination: Destination & { kind: 'deployment' }; requestId: string },
    { path, afterId }: Handover,
  ): Promise<Continuation> {
    const itinerary = await this.#parts.planner.planRest(req, { ...destination, target: path });
    const headers = this.#headers(req, itinerary, requestId, { handover: { afterId } });
    return { ...this.#passing(requestId, itinerary), headers };
  }

  #passing(requestId: string, { upstreams, load }: Itinerary): Omit<Continuation, 'headers'> {
    const { context, dispatcher, silentUpstreams, planner } = this.#parts;
    const isLast = () => context.lifecycle.isDraining;
    return { dispatcher, silentUpstreams, upstreams, load, requestId, isLast, avoid: planner.avoid };
  }

  async #serveUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { context, planner } = this.#parts;
    const requestId = requestIdOf(req);
    try {
      if (context.lifecycle.isDraining)
        throw new UnavailableError('The gateway is shutting down', { retryAfterSeconds: 1 });
      this.#admission.enter(socket);
      const destination = this.#resolve(req);
      const itinerary = await planner.plan(req, destination === 'own' ? { kind: 'none' } : destination);
      if (socket.destroyed) return;
      const release = this.#track(itinerary, () => socket.destroy());
      if (release) socket.once('close', release);
      const headers = this.#headers(req, itinerary, requestId);
      const { upstreams, load, target, name } = itinerary;
      forwardUpgrade(req, socket, head, { upstreams, load, target, headers, requestId, name });
    } catch (error) {
      this.#countRefusal(error);
      if (!(error instanceof AppError)) context.logger.error('upgrade failed unexpectedly', { requestId, error });
      refuseUpgrade(socket, error instanceof AppError ? error : new BadGatewayError('The upgrade failed'));
    }
  }

  #headers(
    req: IncomingMessage,
    { admission, prefix }: Itinerary,
    requestId: string,
    further: Pick<ForwardedAs, 'handover'> = {},
  ): string[] {
    const { trustForwarded } = this.#parts;
    return requestHeaders(req, { admission, prefix, requestId, trustForwarded, ...further });
  }

  #track({ admission }: Itinerary, cut: () => void): (() => void) | undefined {
    const keyId = admission.principal?.claims.key_id;
    if (keyId === undefined || !admission.recheck) return undefined;
    return this.#parts.exchanges.add({ keyId, recheck: admission.recheck, cut });
  }

  #countRefusal(error: unknown): void {
    if (error instanceof AppError && error.refusal) this.#refusals.count(error.refusal);
  }

  #finished(
    req: IncomingMessage,
    res: ServerResponse,
    destination: Destination,
    requestId: string,
    startedAt: number,
  ): void {
    const elapsedMs = performance.now() - startedAt;
    const status = res.writableFinished ? res.statusCode : 499;
    const method = req.method ?? 'GET';
    this.#metrics.finished(method, labelOf(destination), status, elapsedMs);
    const path = loggedPath((req.url ?? '/').split('?', 1)[0] as string);
    this.#parts.context.logger.http('request', {
      requestId,
      method,
      path,
      status,
      ms: Math.round(elapsedMs * 10) / 10,
    });
  }
}

function labelOf(destination: Destination): string {
  if (destination.kind === 'service') return `${destination.prefix}/…`;
  return destination.kind === 'deployment' ? '/deployments/{deployment}/…' : 'none';
}
