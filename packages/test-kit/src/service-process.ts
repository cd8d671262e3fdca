import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundledEntry } from './bundles/bundled-entry.ts';
import { freePort } from './free-port.ts';
import { waitFor } from './wait-for.ts';

export interface ServiceProcessOptions {
  /**
   * The service's entry file. `src/main.ts` of a service is run from a bundle of the present sources, made once per
   * test run.
   */
  entry: string;
  /** Arguments after the entry file, such as a command of the service. */
  args?: string[];
  env?: Record<string, string>;
  /**
   * Secrets that are passed through an inherited pipe (RUNYARD_SECRETS_FD), like by the launcher, so that they are in
   * no environment.
   */
  secrets?: Record<string, string>;
  /** Working directory; default: the service's own folder. */
  cwd?: string;
  /** Path polled until it answers 2xx, or null to return as soon as the process runs. Default `/ok`. */
  readyPath?: string | null;
}

export interface TestServiceProcess {
  url: string;
  port: number;
  pid: number;
  /** Returns everything written to stdout and stderr so far. */
  output(): string;
  /** Resolves when the process ends, however that happens. */
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Asks the process to end (default SIGTERM) and waits until it has; kills it after `graceMs`. */
  stop(options?: {
    signal?: NodeJS.Signals;
    graceMs?: number;
  }): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * Runs a service as its own process on a free loopback port and waits until it answers. It ends with the test: by
 * `stop`, when this process exits, or, should this one be killed, by the end of the pipe for RUNYARD_PARENT_FD.
 */
export async function startServiceProcess(options: ServiceProcessOptions): Promise<TestServiceProcess> {
  const entry = await bundledEntry(options.entry);
  // The port is chosen last, because nothing keeps it free.
  const port = options.env?.PORT ? Number(options.env.PORT) : await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, [...loaderFor(entry), entry, ...(options.args ?? [])], {
    cwd: options.cwd ?? serviceFolder(options.entry),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      HOST: '127.0.0.1',
      DRAIN_WINDOW_SECONDS: '0',
      ...options.env,
      PORT: String(port),
      RUNYARD_SECRETS_FD: '3',
      RUNYARD_PARENT_FD: '4',
    },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => chunks.push(text));
  const exited = once(child, 'exit').then(([code, signal]) => {
    running.delete(child);
    return { code, signal };
  });
  const secretsPipe = child.stdio[3] as NodeJS.WritableStream;
  secretsPipe.on('error', () => {}); // A service that ended early has closed it; `exited` has the reason.
  secretsPipe.end(JSON.stringify(options.secrets ?? {}));
  child.stdio[4]?.on('error', () => {});

  const service: TestServiceProcess = {
    url,
    port,
    pid: child.pid ?? -1,
    output: () => chunks.join(''),
    exited,
    async stop({ signal = 'SIGTERM', graceMs = 15_000 } = {}) {
      child.kill(signal);
      const killer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      return exited.finally(() => clearTimeout(killer));
    },
  };
  if (options.readyPath !== null) await untilReady(service, options, child);
  return service;
}

async function untilReady(
  service: TestServiceProcess,
  options: ServiceProcessOptions,
  child: ChildProcess,
): Promise<void> {
  const path = options.readyPath ?? '/ok';
  const failure = () => `${options.entry} did not become ready. Its output:\n${service.output()}`;
  try {
    await waitFor(
      async () => child.exitCode !== null || child.signalCode !== null || (await fetch(service.url + path)).ok,
      {
        what: `${path} of ${options.entry}`,
      },
    );
  } catch (error) {
    await service.stop({ signal: 'SIGKILL' });
    throw new Error(failure(), { cause: error });
  }
  if (child.exitCode !== null || child.signalCode !== null) throw new Error(failure());
}

function loaderFor(entry: string): string[] {
  return entry.endsWith('.ts')
    ? ['--enable-source-maps', '--import', import.meta.resolve('tsx')]
    : ['--enable-source-maps'];
}

function serviceFolder(entry: string): string {
  const folder = dirname(entry.startsWith('file:') ? fileURLToPath(entry) : entry);
  return /\/(src|dist)$/.test(folder) ? dirname(folder) : folder;
}
