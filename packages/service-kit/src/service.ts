import type { Writable } from 'node:stream';
import { TRACING_OFF, type Tracing } from '@runyard/tracing';
import type { Static, TObject } from 'typebox';
import { DEFAULT_REQUEST_LIMITS, RequestAdmission } from './admission.ts';
import type { Environment } from './config.ts';
import { type Lifecycle, ServiceLifecycle } from './lifecycle.ts';
import { createLogger, type Logger, type LogLevel } from './logger.ts';
import { Metrics } from './metrics.ts';

/** Everything that all parts of a service may use. */
export interface ServiceContext {
  name: string;
  logger: Logger;
  metrics: Metrics;
  tracing: Tracing;
  lifecycle: Lifecycle;
  /** Admits what all its servers receive. */
  admission: RequestAdmission;
  /** Milliseconds for which its servers accept requests after the stop began. */
  drainWindowMs: number;
}

export interface ServiceDefinition<T extends TObject = TObject> {
  name: string;
  /** A schema whose property names are the environment variables; spread `serviceVariables` into it. */
  schema: T;
  /** Translates other names and forms of variables to those of the schema; its warnings are logged at the start. */
  translate?: (environment: Environment) => { environment: Environment; warnings: string[] };
  /** Opens and connects all parts, calls `lifecycle.ready()` and returns. The process then runs until it is stopped. */
  run(config: Static<T>, context: ServiceContext): Promise<unknown>;
}

/** Variables of every service that shape its context; missing ones have no effect or their default. */
export interface ContextOptions {
  LOG_LEVEL?: LogLevel;
  LOG_JSON?: boolean;
  LOG_COLOR?: boolean;
  DRAIN_WINDOW_SECONDS?: number;
  HTTP_MAX_REQUESTS_IN_FLIGHT?: number;
  HTTP_MAX_BODY_BYTES_IN_FLIGHT?: number;
  processMetrics?: boolean;
  /** Default: standard output and standard error. */
  logOutput?: Writable;
  /** Default: no traces. */
  tracing?: Tracing;
}

/** Creates the context of a service; also for tests, which run services inside their own process. */
export function createContext(
  name: string,
  options: ContextOptions = {},
): ServiceContext & { lifecycle: ServiceLifecycle } {
  const logger = createLogger({
    level: options.LOG_LEVEL ?? 'info',
    json: options.LOG_JSON ?? false,
    color: options.LOG_COLOR ?? process.stdout.isTTY,
    service: name,
    output: options.logOutput,
  });
  return {
    name,
    logger,
    metrics: new Metrics({ processMetrics: options.processMetrics ?? true }),
    tracing: options.tracing ?? TRACING_OFF,
    lifecycle: new ServiceLifecycle(logger),
    admission: new RequestAdmission({
      requestsInFlight: options.HTTP_MAX_REQUESTS_IN_FLIGHT ?? DEFAULT_REQUEST_LIMITS.requestsInFlight,
      bodyBytesInFlight: options.HTTP_MAX_BODY_BYTES_IN_FLIGHT ?? DEFAULT_REQUEST_LIMITS.bodyBytesInFlight,
    }),
    drainWindowMs: (options.DRAIN_WINDOW_SECONDS ?? 0) * 1000,
  };
}
