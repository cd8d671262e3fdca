import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  AppError,
  allowAnyOrigin,
  answerError,
  BadGatewayError,
  ClientGoneError,
  loggedPath,
  RequestMetrics,
  requestIdOf,
  type ServiceContext,
  UnavailableError,
} from '@runyard/service-kit';
import type { Dispatcher } from 'undici';
import type { OpenExchanges } from './authentication/open-exchanges.ts';
import { takeBody } from './limits/request-body.ts';
import { forward } from './proxy/forward.ts';
import { requestHeaders } from './proxy/headers.ts';
import { forwardUpgrade, refuseUpgrade } from './proxy/upgrade.ts';
import { upstreamFailure } from './proxy/upstream-error.ts';
import type { Itinerary, ItineraryPlanner } from './routing/itinerary.ts';
import { type Destination, resolvePath } from './routing/resolve-path.ts';

export interface GatewayParts {
  context: ServiceContext;
  /** Answers the gateway's own paths. */
  own: RequestListener;
  planner: ItineraryPlanner;
  exchanges: OpenExchanges;
  dispatcher: Dispatcher;
  bodyLimitBytes: number;
  trustForwarded: boolean;
}

const OWN_PATHS: ReadonlySet<string> = new Set(['/ok', '/metrics']);

/** The edge: each request is resolved, admitted, and passed on as it comes. */
export class Gateway {
  readonly #parts: GatewayParts;
  readonly #metrics: RequestMetrics;
  readonly #upgraded = new Set<Duplex>();

  constructor(parts: GatewayParts) {
    this.#parts = parts;
    this.#metrics = new RequestMetrics(parts.context.metrics, 'runyard_');
  }

  readonly onRequest = (req: IncomingMessage, res: ServerResponse): void => {
    const url = req.url ?? '/';
    if (OWN_PATHS.has(url.split('?', 1)[0]!)) this.#parts.own(req, res);
    else void this.#serve(req, res, resolvePath(url));
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

  async #serve(req: IncomingMessage, res: ServerResponse, destination: Destination): Promise<void> {
    const { context, dispatcher, bodyLimitBytes } = this.#parts;
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    this.#metrics.started();
    let release: (() => void) | undefined;
    res.once('close', () => {
      release?.();
      this.#finished(req, res, destination, requestId, startedAt);
    });
    try {
      const itinerary = await this.#parts.planner.plan(req, destination);
      if (res.closed) return;
      release = this.#track(itinerary, () => res.destroy());
      const body = await takeBody(req, bodyLimitBytes);
      const headers = this.#headers(req, itinerary, requestId);
      const { upstreams, target, name } = itinerary;
      const isLast = () => context.lifecycle.isDraining;
      const forwarding = { dispatcher, upstreams, target, headers, body, requestId, isLast };
      await forward(req, res, forwarding).catch((error: unknown) => {
        throw error instanceof ClientGoneError || res.destroyed
          ? new ClientGoneError(error)
          : upstreamFailure(error, name);
      });
    } catch (error) {
      if (!res.headersSent) {
        res.setHeader('x-request-id', requestId);
        if (destination.kind === 'deployment') allowAnyOrigin(res);
      }
      answerError(req, res, error, context.logger.child({ requestId }));
    }
  }

  async #serveUpgrade(req: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { context, planner } = this.#parts;
    const requestId = requestIdOf(req);
    try {
      if (context.lifecycle.isDraining)
        throw new UnavailableError('The gateway is shutting down', { retryAfterSeconds: 1 });
      const itinerary = await planner.plan(req, resolvePath(req.url ?? '/'));
      if (socket.destroyed) return;
      const release = this.#track(itinerary, () => socket.destroy());
      if (release) socket.once('close', release);
      const headers = this.#headers(req, itinerary, requestId);
      const { upstreams, target, name } = itinerary;
      forwardUpgrade(req, socket, head, { upstream: upstreams[0], target, headers, requestId, name });
    } catch (error) {
      if (!(error instanceof AppError)) context.logger.error('upgrade failed unexpectedly', { requestId, error });
      refuseUpgrade(socket, error instanceof AppError ? error : new BadGatewayError('The upgrade failed'));
    }
  }

  #headers(req: IncomingMessage, { admission, prefix }: Itinerary, requestId: string): string[] {
    return requestHeaders(req, { admission, prefix, requestId, trustForwarded: this.#parts.trustForwarded });
  }

  #track({ admission }: Itinerary, cut: () => void): (() => void) | undefined {
    const keyId = admission.principal?.claims.key_id;
    if (keyId === undefined || !admission.recheck) return undefined;
    return this.#parts.exchanges.add({ keyId, recheck: admission.recheck, cut });
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
