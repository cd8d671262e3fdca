import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { openTracing, TRACING_OFF, type Tracing, type TracingVariables } from '@runyard/tracing';
import type { Static, TObject } from 'typebox';
import { readConfig, readEnvironment } from './config.ts';
import { ConfigError } from './config-error.ts';
import { errorCodeOf } from './errors.ts';
import { DEFAULT_REQUEST_LIMITS, RequestAdmission } from './http/admission.ts';
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

type Environment = Record<string, string | undefined>;

export interface ServiceDefinition<T extends TObject> {
  name: string;
  /** A schema whose property names are the environment variables; spread `serviceVariables` into it. */
  schema: T;
  /** Translates other names and forms of variables to those of the schema; its warnings are logged at the start. */
  translate?: (environment: Environment) => { environment: Environment; warnings: string[] };
  /** Opens and connects all parts, calls `lifecycle.ready()` and returns. The process then runs until it is stopped. */
  run(config: Static<T>, context: ServiceContext): Promise<unknown>;
}

const EXIT_CRASH = 1;
const EXIT_BAD_CONFIG = 78;

/**
 * The whole of a service's main.ts. Ends the process: 0 after a clean stop, 1 after a crash or a part that did not
 * close, 78 when the configuration is wrong. SIGTERM and SIGINT stop gracefully, a second one at once. The death of the
 * parent process also stops it when RUNYARD_PARENT_FD names a pipe that the parent holds.
 */
export async function runService<T extends TObject>(definition: ServiceDefinition<T>): Promise<void> {
  let config: Static<T>;
  let warnings: string[] = [];
  try {
    const given = readEnvironment();
    const translated = definition.translate?.(given) ?? { environment: given, warnings };
    config = readConfig(definition.schema, { environment: translated.environment });
    warnings = translated.warnings;
  } catch (error) {
    reportProblems(definition.name, error instanceof ConfigError ? error.problems : [String((error as Error).message)]);
    process.exit(EXIT_BAD_CONFIG);
  }
  const context = createContext(definition.name, config as ContextOptions);
  const { logger, lifecycle } = context;
  context.tracing = await openServiceTracing(context, config as TracingOptions);
  for (const warning of warnings) logger.warn(warning);

  let exitCode = 0;
  const stopped = new Promise<void>((resolve) => {
    const stop = (reason: string, code: number) => {
      exitCode = Math.max(exitCode, code);
      void lifecycle.stop(reason).then(resolve);
    };
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (lifecycle.isDraining) process.exit(EXIT_CRASH);
        stop(signal, 0);
      });
    }
    // The reader of the log may have exited. Without a listener, that error would be an uncaught one, which is logged,
    // which fails again.
    for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        logger.error(event === 'uncaughtException' ? 'uncaught exception' : 'unhandled rejection', { error });
        stop(event, EXIT_CRASH);
      });
    }
    // A part may also ask to stop; the process then ends as well.
    lifecycle.stopping.addEventListener('abort', () => stop('stop requested by a part', 0));
    watchParent(process.env.RUNYARD_PARENT_FD, () => stop('parent process ended', 0));
    definition.run(config, context).catch((error: unknown) => {
      // A stop interrupts the start: an error of the start is no failure then.
      if (lifecycle.isDraining) {
        logger.debug('start cancelled by a stop', { error });
        return;
      }
      // Some configuration errors show only when parts are connected.
      if (error instanceof ConfigError) {
        reportProblems(definition.name, error.problems);
        stop('invalid configuration', EXIT_BAD_CONFIG);
        return;
      }
      logger.error('start failed', { code: errorCodeOf(error), error });
      stop('start failed', EXIT_CRASH);
    });
  });

  await stopped;
  process.exit(lifecycle.failures > 0 ? EXIT_CRASH : exitCode);
}

interface TracingOptions extends TracingVariables {
  /** Variables of a deployment's processes: their spans say which deployment and revision they belong to. */
  DEPLOYMENT_ID?: string;
  REVISION_ID?: string;
}

/** Milliseconds between log lines about traces that could not be sent. */
const LOST_SPANS_LOG_MS = 60_000;

async function openServiceTracing(
  { name, logger, metrics, lifecycle }: ServiceContext,
  config: TracingOptions,
): Promise<Tracing> {
  const lost = metrics.counter('runyard_trace_spans_lost_total', 'Spans that the collector of traces did not take.');
  let loggedAt = Number.NEGATIVE_INFINITY;
  const { DEPLOYMENT_ID, REVISION_ID } = config;
  const tracing = await openTracing({
    variables: config,
    serviceName: `runyard-${name}`,
    resourceAttributes: {
      ...(DEPLOYMENT_ID !== undefined && { 'runyard.deployment.id': DEPLOYMENT_ID }),
      ...(REVISION_ID !== undefined && { 'runyard.revision.id': REVISION_ID }),
    },
    onLost: (spans, error) => {
      lost.inc(spans);
      if (performance.now() - loggedAt < LOST_SPANS_LOG_MS) return;
      loggedAt = performance.now();
      logger.warn('traces not sent', { spans, error });
    },
  });
  lifecycle.onStop('traces', () => tracing.close());
  return tracing;
}

function reportProblems(name: string, problems: string[]): void {
  for (const problem of problems) process.stderr.write(`${name}: ${problem}\n`);
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

function watchParent(descriptor: string | undefined, onEnd: () => void): void {
  if (descriptor === undefined || descriptor === '') return;
  const pipe = new Socket({ fd: Number(descriptor), readable: true, writable: false });
  let hasEnded = false;
  const report = () => {
    if (!hasEnded) onEnd();
    hasEnded = true;
  };
  pipe.on('end', report).on('close', report).on('error', report);
  pipe.resume();
  pipe.unref();
}
