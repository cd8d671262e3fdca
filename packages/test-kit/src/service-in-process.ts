import { Writable } from 'node:stream';
import { createContext, readConfig, type ServiceDefinition } from '@runyard/service-kit';
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
  { name, schema, run }: Pick<ServiceDefinition<Schema>, 'name' | 'schema' | 'run'>,
  { env, secrets, readyPath = '/ok' }: Omit<ServiceProcessOptions, 'entry' | 'cwd'>,
): Promise<TestService> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const environment = { HOST: '127.0.0.1', DRAIN_WINDOW_SECONDS: '0', ...env, ...secrets, PORT: new URL(url).port };
  const config = readConfig(schema, { environment });
  const lines: string[] = [];
  const logOutput = new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      lines.push(line);
      done();
    },
  });
  const output = () => lines.join('');
  const logging = { LOG_LEVEL: 'debug', LOG_JSON: true, logOutput } as const;
  const context = createContext(name, { ...config, ...logging, processMetrics: false });
  const stop = () => context.lifecycle.stop('the test is over');
  try {
    await run(config, context);
    if (readyPath !== null)
      await waitFor(async () => (await fetch(url + readyPath)).ok, { what: `${readyPath} of ${name}` });
  } catch (error) {
    await stop();
    throw new Error(`${name} did not become ready: ${(error as Error).message}\nIts output:\n${output()}`, {
      cause: error,
    });
  }
  return { url, output, stop };
}
