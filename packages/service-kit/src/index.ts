export type { Request, RequestHandler, Response } from 'express';
export { ByteBudget } from './byte-budget.ts';
export * from './config.ts';
export * from './config-error.ts';
export { ConnectionUri } from './connection-uri.ts';
export { DueWork, type DueWorkOptions } from './due-work.ts';
export * from './errors.ts';
export * from './event-bus-config.ts';
export { excludeFromInFlight, RequestAdmission, releaseBodyBytes, reserveBodyBytes } from './http/admission.ts';
export * from './http/admitted-body.ts';
export { type AppOptions, createApp } from './http/app.ts';
export * from './http/bind.ts';
export * from './http/body.ts';
export { healthOperation, metricsOperation } from './http/built-in.ts';
export * from './http/cors.ts';
export type { SecurityDescription } from './http/describe-security.ts';
export { abortResponse, answerError, type ErrorForm } from './http/error-answer.ts';
export { ErrorMetrics } from './http/error-metrics.ts';
export { answerHealth, type ReadinessChecks } from './http/health.ts';
export { isResponsive } from './http/is-responsive.ts';
export * from './http/listen.ts';
export { listenForMetrics } from './http/metrics-port.ts';
export { type Middleware, withMiddleware } from './http/middleware.ts';
export { type Page, page } from './http/page.ts';
export { redactPath } from './http/redact-path.ts';
export * from './http/reply.ts';
export * from './http/request-id.ts';
export { RequestMetrics } from './http/request-metrics.ts';
export { type RequestOrigin, requestOrigin } from './http/request-origin.ts';
export * from './http/request-trace.ts';
export * from './http/route-table.ts';
export * from './http/unread-bodies.ts';
export { asksForOtherProtocol, serveWithoutUpgrade } from './http/unused-upgrade.ts';
export * from './http/upgrades.ts';
export type { ValidationErrorStyle } from './http/validate-request.ts';
export { InternalClient } from './internal-client.ts';
export { JsonText, toJsonBytes } from './json-text.ts';
export * from './kafka-access.ts';
export { type Lifecycle, ServiceLifecycle } from './lifecycle.ts';
export * from './logger.ts';
export * from './metrics.ts';
export * from './open-connections.ts';
export { PeriodicTask, type PeriodicTaskOptions } from './periodic-task.ts';
export * from './permissions.ts';
export { freePort } from './ports.ts';
export * from './principal.ts';
export { redactFields, redactText } from './redaction.ts';
export {
  type HeartbeatOptions,
  type RedisConnection,
  resetConnection,
  startRedisHeartbeat,
} from './redis-heartbeat.ts';
export { reportReady } from './report-ready.ts';
export * from './sanitize.ts';
export { cacheForScrape } from './scrape-cache.ts';
export { createContext, runService, type ServiceContext, type ServiceDefinition } from './service.ts';
export { WakeableTimer } from './wakeable-timer.ts';
