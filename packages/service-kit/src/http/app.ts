import type { OpenApiInfo } from '@runyard/contracts';
import express, { type Express, type RequestHandler } from 'express';
import type { PrincipalVerifier } from '../principal.ts';
import type { ServiceContext } from '../service.ts';
import type { BoundOperation } from './bind.ts';
import { BODY_LIMIT_BYTES } from './body.ts';
import { allowAnyOrigin, answerPreflight, isPreflight } from './cors.ts';
import { createDispatcher } from './dispatch.ts';
import { answerError } from './error-answer.ts';
import type { ReadinessChecks } from './health.ts';
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
  /** `open`: any page may call, without cookies. */
  cors?: 'open' | 'closed';
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

/** Request id, log, metrics, CORS: what every request gets, whichever handler takes it. */
function observe(options: AppOptions): RequestHandler {
  const { logger, lifecycle, metrics } = options.context;
  const requestMetrics = new RequestMetrics(metrics, options.metricsPrefix ?? 'runyard_');
  return (req, res, next) => {
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    const traceId = traceIdOf(req);
    res.locals.log = logger.child(traceId === undefined ? { requestId } : { requestId, traceId });
    res.locals.route = 'none';
    res.setHeader('x-request-id', requestId);
    if (lifecycle.isDraining) res.setHeader('connection', 'close');
    requestMetrics.started();
    res.once('close', () => {
      const elapsedMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : 499;
      requestMetrics.finished(req.method, res.locals.route, status, elapsedMs);
      res.locals.log.http('request', {
        method: req.method,
        path: req.path,
        status,
        ms: Math.round(elapsedMs * 10) / 10,
      });
    });
    if (options.cors === 'open') {
      if (isPreflight(req)) {
        answerPreflight(req, res);
        return;
      }
      allowAnyOrigin(res);
    }
    next();
  };
}
