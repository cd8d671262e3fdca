import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { OpenApiInfo, Operation } from '@runyard/contracts';
import express, { type Express, type RequestHandler } from 'express';
import type { PrincipalVerifier } from '../principal.ts';
import type { ServiceContext } from '../service.ts';
import type { BoundOperation } from './bind.ts';
import { BODY_LIMIT_BYTES } from './body.ts';
import { dropUnprovenAddress } from './client-address.ts';
import { closeAfterAnswer } from './close-after-answer.ts';
import { ANY_ORIGIN, answerPreflight, applyCors, type CorsRules, isPreflight } from './cors.ts';
import type { SecurityDescription } from './describe-security.ts';
import { createDispatcher } from './dispatch.ts';
import { answerError, type ErrorForm } from './error-answer.ts';
import { ErrorMetrics } from './error-metrics.ts';
import type { ReadinessChecks } from './health.ts';
import { isOfPlatform } from './internal-caller.ts';
import { redactPath } from './redact-path.ts';
import { requestIdOf, traceIdOf } from './request-id.ts';
import { RequestMetrics } from './request-metrics.ts';
import { checkTarget, splitAbsoluteTarget } from './request-target.ts';
import { endRequestSpan, limitBaggage, startRequestSpan } from './request-trace.ts';
import type { ValidationErrorStyle } from './validate-request.ts';

export interface AppOptions {
  context: ServiceContext;
  operations: BoundOperation[];
  /** Default 300 MiB; the limit holds for chunked bodies too. */
  bodyLimitBytes?: number;
  /** Handlers that run before the operations, with request id and metrics in place. */
  before?: RequestHandler[];
  /** Handlers that run when no operation matches, before the 404. */
  after?: RequestHandler[];
  /** Checks of `/ok?check_db=1`; a rejection makes it 503. */
  readiness?: ReadinessChecks;
  /** Serves `/openapi.json` and `/docs`. */
  openApi?: OpenApiInfo;
  /** An OpenAPI document of routes that others serve at the same address. */
  additionalOpenApi?: Record<string, unknown>;
  /** How callers of the documented operations prove who they are, where the service's own verifier does not decide it. */
  security?: SecurityDescription | undefined;
  /** `open`: any page may call, without cookies. `closed`, the default: none. */
  cors?: 'open' | 'closed' | CorsRules;
  /** Selects operations, including built-in ones, that are not served. */
  isExcluded?: (operation: Operation) => boolean;
  /**
   * Returns whether a request is a part of another one: it is neither counted nor logged, and the outer one handles
   * CORS.
   */
  isInner?: (req: IncomingMessage) => boolean;
  /** Returns the request headers to log with a request, by name. */
  loggedHeaders?: (headers: IncomingHttpHeaders) => Record<string, string>;
  /** Required when an operation's access is `principal`. */
  principal?: PrincipalVerifier;
  /**
   * Required when an operation's access is `internal`. With it the gateway alone may say which address a client has.
   */
  internalToken?: string;
  /** Protects `/metrics`, where the service can be reached from outside. */
  metricsGuard?: PrincipalVerifier;
  validationErrors?: ValidationErrorStyle;
  /** Gives the errors of some paths the form that their protocol demands. */
  errorForm?: ErrorForm;
  /** Prefix of the HTTP metrics' names. */
  metricsPrefix?: string;
}

/**
 * Creates the HTTP interface of a service: its operations, `/ok`, `/metrics`, the documentation, and uniform errors.
 */
export function createApp(options: AppOptions): Express {
  const { context, metricsPrefix = 'runyard_' } = options;
  const errors = new ErrorMetrics(context.metrics, metricsPrefix);
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
    const { errorForm: form } = options;
    res.locals.errorCode = answerError(req, res, error, { log: res.locals.log ?? context.logger, errors, form });
  }) as express.ErrorRequestHandler);
  return app;
}

/** Health checks and scrapes, which are answered under overload too. */
const ALWAYS_LET_IN: ReadonlySet<string> = new Set(['/ok', '/metrics']);

/** Handles the part that all requests share: request id, log, trace, metrics, CORS and admission. */
function observe(options: AppOptions): RequestHandler {
  const { logger, lifecycle, metrics, admission, tracing } = options.context;
  const prefix = options.metricsPrefix ?? 'runyard_';
  const requestMetrics = new RequestMetrics(metrics, prefix);
  const { cors = 'closed', isInner, loggedHeaders, internalToken } = options;
  const corsRules = cors === 'open' ? ANY_ORIGIN : cors === 'closed' ? undefined : cors;
  return (req, res, next) => {
    splitAbsoluteTarget(req);
    const startedAt = performance.now();
    const requestId = requestIdOf(req);
    limitBaggage(req.headers);
    if (internalToken !== undefined) dropUnprovenAddress(req.headers, internalToken);
    const isPart = isInner?.(req) ?? false;
    const span = isPart ? undefined : startRequestSpan(tracing, req);
    const traceId = span?.traceId ?? traceIdOf(req);
    res.locals.log = logger.child(traceId === undefined ? { requestId } : { requestId, traceId });
    res.locals.route = 'none';
    res.setHeader('x-request-id', requestId);
    if (isPart) {
      next();
      return;
    }
    if (lifecycle.isDraining) closeAfterAnswer(res);
    requestMetrics.started();
    res.once('close', () => {
      const elapsedMs = performance.now() - startedAt;
      const status = res.writableFinished ? res.statusCode : 499;
      requestMetrics.finished(req.method, res.locals.route, status, elapsedMs);
      if (span) endRequestSpan(span, req, { route: res.locals.route, status, errorCode: res.locals.errorCode });
      res.locals.log.http('request', {
        method: req.method,
        path: redactPath(req.path),
        status,
        ...(res.locals.errorCode && { code: res.locals.errorCode }),
        ms: Math.round(elapsedMs * 10) / 10,
        ...(loggedHeaders && { headers: loggedHeaders(req.headers) }),
      });
    });
    checkTarget(req);
    if (corsRules) {
      if (isPreflight(req)) {
        answerPreflight(req, res, corsRules);
        return;
      }
      applyCors(req, res, corsRules);
    }
    // Questions of other services, as whether a key is good, wait for no room that strangers take.
    if (!ALWAYS_LET_IN.has(req.path) && !isOfPlatform(req, internalToken)) admission.enter(res);
    next();
  };
}
