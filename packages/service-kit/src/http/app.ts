import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { OpenApiInfo, Operation } from '@runyard/contracts';
import express, { type Express, type RequestHandler } from 'express';
import type { PrincipalVerifier } from '../principal.ts';
import type { ServiceContext } from '../service.ts';
import { Admission, Refusals } from './admission.ts';
import type { BoundOperation } from './bind.ts';
import { BODY_LIMIT_BYTES } from './body.ts';
import { ANY_ORIGIN, answerPreflight, applyCors, type CorsRules, isPreflight } from './cors.ts';
import { createDispatcher } from './dispatch.ts';
import { answerError } from './error-answer.ts';
import type { ReadinessChecks } from './health.ts';
import { sayLast } from './last-answer.ts';
import { loggedPath } from './logged-path.ts';
import { requestIdOf, traceIdOf } from './request-id.ts';
import { RequestMetrics } from './request-metrics.ts';
import type { ValidationErrorStyle } from './validate-request.ts';

export interface AppOptions {
  context: ServiceContext;
  operations: BoundOperation[];
  /** Default 300 MiB; chunked bodies are held to it too. */
  bodyLimitBytes?: number;
  /** Run before the operations, with request id and metrics in place. */
  before?: RequestHandler[];
  /** Get what no operation took, before the 404. */
  after?: RequestHandler[];
  /** What `/ok?check_db=1` asks; a rejection makes it 503. */
  readiness?: ReadinessChecks;
  /** Serves `/openapi.json` and `/docs`. */
  openApi?: OpenApiInfo;
  /** An OpenAPI document of routes that others serve under the same address. */
  alsoDescribes?: Record<string, unknown>;
  /** `open`: any page may call, without cookies. `closed`, the default: none. */
  cors?: 'open' | 'closed' | CorsRules;
  /** Operations, those every service has included, that are to be as if they did not exist. */
  without?: (operation: Operation) => boolean;
  /** A request that is a part of another one: it is neither counted nor logged, and CORS is the outer one's business. */
  isInner?: (req: IncomingMessage) => boolean;
  /** Request headers that go into the log line of a request, by name. */
  loggedHeaders?: (headers: IncomingHttpHeaders) => Record<string, string>;
  /** Needed when an operation's access is `principal`. */
  principal?: PrincipalVerifier;
  /** Needed when an operation's access is `internal`. */
  internalToken?: string;
  /** Guards `/metrics`, where the service can be reached from outside. */
  metricsGuard?: PrincipalVerifier;
  validationErrors?: ValidationErrorStyle;
  /** Before the names of the HTTP metrics. */
  metricsPrefix?: string;
}

/** The service's HTTP interface: its operations, `/ok`, `/metrics`, the documentation, and one way to fail. */
export function createApp(options: AppOptions): Express {
  const { context } = options;
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(observe(options));
  for (const handler of options.before ?? []) app.use(handler);
  const dispatcher = createDispatcher({ bodyLimitBytes: BODY_LIMIT_BYTES, validationErrors: 'text', ...options });
  app.use(dispatcher.operations);
  for (const handler of options.after ?? []) app.use(handler);
  app.use(dispatcher.unmatched);
  app.use(((error, req, res, _next) => {
    answerError(req, res, error, res.locals.log ?? context.logger);
  }) as express.ErrorRequestHandler);
  return app;
}

/** Asked by who looks whether the process is well, also when it has too much to do. */
const ALWAYS_LET_IN: ReadonlySet<string> = new Set(['/ok', '/metrics']);

/** Request id, log, metrics, CORS, and whether there is room for it: what every request gets, whichever handler takes it. */
function observe(options: AppOptions): RequestHandler {
  const { logger, lifecycle, metrics, limits } = options.context;
  const prefix = options.metricsPrefix ?? 'runyard_';
  const requestMetrics = new RequestMetrics(metrics, prefix);
  const refusals = new Refusals(metrics, prefix);
  const admission = new Admission(limits, refusals);
  const { cors = 'closed', isInner, loggedHeaders } = options;
  const corsRules = cors === 'open' ? ANY_ORIGIN : cors === 'closed' ? undefined : cors;
  return (req, res, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    const traceId = traceIdOf(req);
    res.locals.log = logger.child(traceId === undefined ? { requestId } : { requestId, traceId });
    res.locals.route = 'none';
    res.locals.refusals = refusals;
    res.setHeader('x-request-id', requestId);
    if (isInner?.(req)) {
      next();
      return;
    }
    if (lifecycle.isDraining) sayLast(res);
    requestMetrics.started();
    res.once('close', () => {
      const elapsedMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : 499;
      requestMetrics.finished(req.method, res.locals.route, status, elapsedMs);
      res.locals.log.http('request', {
        method: req.method,
        path: loggedPath(req.path),
        status,
        ms: Math.round(elapsedMs * 10) / 10,
        ...(loggedHeaders && { headers: loggedHeaders(req.headers) }),
      });
    });
    if (corsRules) {
      if (isPreflight(req)) {
        answerPreflight(req, res, corsRules);
        return;
      }
      applyCors(req, res, corsRules);
    }
    if (!ALWAYS_LET_IN.has(req.path)) admission.enter(res);
    next();
  };
}
