import {
  createContext,
  type Logger,
  readConfig,
  redactFields,
  redactText,
  type ServiceDefinition,
} from '@runyard/service-kit';
import { freePort } from './free-port.ts';
import type { ServiceProcessOptions, TestServiceProcess } from './service-process.ts';
import { waitFor } from './wait-for.ts';

/** A running service, in this process or one of its own. */
export type TestService = Pick<TestServiceProcess, 'url' | 'output'> & { stop(): Promise<unknown> };

/**
 * Runs a service inside this process on a free loopback port and waits until it answers. It starts in a tenth of the
 * processor time of {@link startServiceProcess}, since its code is loaded, and often compiled, already. What concerns
 * the process (signals, its end, its memory, its traces, the pipes of its parent) needs one of its own.
 */
export async function startServiceInProcess<Schema extends Parameters<typeof readConfig>[0]>(
  { name, schema, translate, run }: ServiceDefinition<Schema>,
  { env, secrets, readyPath = '/ok' }: Omit<ServiceProcessOptions, 'entry' | 'cwd'>,
): Promise<TestService> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const given = {
    HOST: '127.0.0.1',
    DRAIN_WINDOW_SECONDS: '0',
    ...env,
    ...secrets,
    PORT: new URL(url).port,
  };
  const { environment } = translate?.(given) ?? { environment: given };
  const logger = new RecordingLogger({ service: name });
  const config = readConfig(schema, { environment });
  const quiet = { LOG_LEVEL: 'silent', processMetrics: false } as const;
  const context = { ...createContext(name, { ...config, ...quiet }), logger };
  const stop = () => context.lifecycle.stop('the test is over');
  try {
    await run(config, context);
    if (readyPath !== null)
      await waitFor(async () => (await fetch(url + readyPath)).ok, { what: `${readyPath} of ${name}` });
  } catch (error) {
    await stop();
    throw new Error(`${name} did not become ready: ${(error as Error).message}\nIts output:\n${logger.output()}`, {
      cause: error,
    });
  }
  return { url, output: () => logger.output(), stop };
}

/** Keeps all lines of a service, with secrets masked as in its log. */
class RecordingLogger implements Logger {
  readonly #fields: Record<string, unknown>;
  readonly #lines: string[];

  constructor(fields: Record<string, unknown>, lines: string[] = []) {
    this.#fields = fields;
    this.#lines = lines;
  }

  output(): string {
    return this.#lines.join('');
  }

  error(message: string, fields?: Record<string, unknown>): void {
    this.#write('error', message, fields);
  }
  warn(message: string, fields?: Record<string, unknown>): void {
    this.#write('warn', message, fields);
  }
  info(message: string, fields?: Record<string, unknown>): void {
    this.#write('info', message, fields);
  }
  http(message: string, fields?: Record<string, unknown>): void {
    this.#write('http', message, fields);
  }
  debug(message: string, fields?: Record<string, unknown>): void {
    this.#write('debug', message, fields);
  }
  child(fields: Record<string, unknown>): Logger {
    return new RecordingLogger({ ...this.#fields, ...fields }, this.#lines);
  }

  #write(level: string, message: string, fields: Record<string, unknown> | undefined): void {
    const masked = redactFields({ ...this.#fields, ...fields }) as Record<string, unknown>;
    this.#lines.push(`${JSON.stringify({ level, message: redactText(message), ...masked })}\n`);
  }
}
