import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';
import { openTracing, type Tracing, type TracingVariables } from '@runyard/tracing';
import type { TObject } from 'typebox';
import { type Environment, readConfig, readEnvironment, readEnvironmentOf, setProcessVariables } from './config.ts';
import { ConfigError } from './config-error.ts';
import { errorCodeOf } from './errors.ts';
import type { ServiceLifecycle } from './lifecycle.ts';
import { type ContextOptions, createContext, type ServiceContext, type ServiceDefinition } from './service.ts';

const EXIT_CRASH = 1;
const EXIT_BAD_CONFIG = 78;

/**
 * The whole of a service's main.ts. Ends the process: 0 after a clean stop, 1 after a crash or a part that did not
 * close, 78 when the configuration is wrong. SIGTERM and SIGINT stop gracefully, a second one at once, or
 * in order but without a grace where a service has one. The death of the
 * parent process also stops it when RUNYARD_PARENT_FD names a pipe that the parent holds, and after
 * RUNYARD_PARENT_GRACE_SECONDS ends its grace.
 */
export async function runService<T extends TObject>(definition: ServiceDefinition<T>): Promise<void> {
  await runProcess([[definition as ServiceDefinition]], readEnvironment);
}

/**
 * Runs several services in one process, which ends as that of a single one does. Each has variables of its own (see
 * `readEnvironmentOf`, `setProcessVariables`), and shares nothing with the others but the process: one that stops, fails
 * to start or crashes stops them all, and the log names it.
 *
 * @param groups start together, and stop one after the other, the first one first
 */
export async function runServices(groups: ServiceDefinition[][]): Promise<void> {
  setProcessVariables();
  await runProcess(groups, readEnvironmentOf);
}

interface ConfiguredService {
  definition: ServiceDefinition;
  config: Record<string, unknown>;
  context: ServiceContext & { lifecycle: ServiceLifecycle };
}

async function runProcess(
  definitions: ServiceDefinition[][],
  environmentOf: (name: string) => Environment,
): Promise<void> {
  const groups: ConfiguredService[][] = [];
  for (const group of definitions) {
    const configured: ConfiguredService[] = [];
    for (const definition of group) {
      const service = await configure(definition, environmentOf);
      if (service) configured.push(service);
    }
    groups.push(configured);
  }
  const services = groups.flat();
  if (services.length < definitions.flat().length) process.exit(EXIT_BAD_CONFIG);

  let exitCode = 0;
  /** The service whose code runs; a process with a single one need not pay for it at every promise. */
  const running = new AsyncLocalStorage<ConfiguredService>();
  const stopAll = async (reason: string) => {
    for (const group of groups) await Promise.all(group.map(({ context }) => context.lifecycle.stop(reason)));
  };
  /** Returns whether some service had something to give up. */
  const hurryAll = () => services.map(({ context }) => context.lifecycle.hurry()).includes(true);
  const fail = ({ context }: ConfiguredService, reason: string, code: number) => {
    exitCode = Math.max(exitCode, code);
    void context.lifecycle.stop(reason);
    // Clients miss what has failed: the others, which stop with it, give up what they would wait for.
    if (services.length > 1) hurryAll();
  };
  const stopped = new Promise<unknown>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (!services.some(({ context }) => context.lifecycle.isDraining)) void stopAll(signal);
        else if (!hurryAll()) process.exit(EXIT_CRASH);
      });
    }
    // The reader of the log may have exited. Without a listener, that error would be an uncaught one, which is logged,
    // which fails again.
    for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        const service = running.getStore();
        for (const suspect of service ? [service] : services) {
          const message = event === 'uncaughtException' ? 'uncaught exception' : 'unhandled rejection';
          suspect.context.logger.error(message, { error });
          fail(suspect, event, EXIT_CRASH);
        }
      });
    }
    watchParent(process.env.RUNYARD_PARENT_FD, () => {
      void stopAll('parent process ended');
      const seconds = process.env.RUNYARD_PARENT_GRACE_SECONDS;
      if (seconds) setTimeout(hurryAll, Number(seconds) * 1000).unref();
    });
    for (const service of services) {
      const { name, lifecycle } = service.context;
      // A part may also ask to stop; the process then ends as well.
      lifecycle.stopping.addEventListener('abort', () => void stopAll(`${name} stops`).then(resolve));
      const start = () => void startService(service, (reason, code) => fail(service, reason, code));
      if (services.length === 1) start();
      else running.run(service, start);
    }
  });

  await stopped;
  const failures = services.reduce((sum, { context }) => sum + context.lifecycle.failures, 0);
  process.exit(failures > 0 ? EXIT_CRASH : exitCode);
}

/** Returns null when its variables are wrong, which is reported. */
async function configure(
  definition: ServiceDefinition,
  environmentOf: (name: string) => Environment,
): Promise<ConfiguredService | null> {
  const { name } = definition;
  let config: Record<string, unknown>;
  let warnings: string[] = [];
  try {
    const given = environmentOf(name);
    const translated = definition.translate?.(given) ?? { environment: given, warnings };
    config = readConfig(definition.schema, { environment: translated.environment });
    warnings = translated.warnings;
  } catch (error) {
    reportProblems(name, error instanceof ConfigError ? error.problems : [String((error as Error).message)]);
    return null;
  }
  const context = createContext(name, config as ContextOptions);
  context.tracing = await openServiceTracing(context, config as TracingOptions);
  for (const warning of warnings) context.logger.warn(warning);
  return { definition, config, context };
}

async function startService(
  { definition, config, context }: ConfiguredService,
  fail: (reason: string, code: number) => void,
): Promise<void> {
  const { logger, lifecycle } = context;
  try {
    await definition.run(config, context);
  } catch (error) {
    // A stop interrupts the start: an error of the start is no failure then.
    if (lifecycle.isDraining) {
      logger.debug('start cancelled by a stop', { error });
      return;
    }
    // Some configuration errors show only when parts are connected.
    if (error instanceof ConfigError) {
      reportProblems(definition.name, error.problems);
      fail('invalid configuration', EXIT_BAD_CONFIG);
      return;
    }
    logger.error('start failed', { code: errorCodeOf(error), error });
    fail('start failed', EXIT_CRASH);
  }
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
