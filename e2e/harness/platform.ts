/**
 * Starts the platform as a stranger does: `npm start` in this checkout or an installed `runyard`, with a data folder of
 * its own and free ports.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const repository = path.resolve(import.meta.dirname, '../..');
export const PROBE_PROJECT = path.join(repository, 'e2e/projects/probe');

const NPM_START: readonly string[] = ['npm', 'start', '--'];

/** The content of `ready.json`, which the launcher writes. */
export interface ReadyFile {
  url: string;
  apiKey: string;
  /** Address of the console for browsers of this machine. */
  consoleUrl: string;
  /** A link that signs one browser in as an administrator, once. */
  consoleSignInUrl: string;
  deployments: { id: string; name: string; url: string; host_url: string }[];
  eventBus: 'kafka' | 'redis';
}

/** The last of the lines that are printed when everything is ready. */
const LAST_LINE = 'Ctrl-C stops everything';

export interface Platform extends ReadyFile {
  dataDir: string;
  /** The URL of the first deployment. */
  deploymentUrl: string;
  /** The process id of the command; all other processes are below it. */
  pid: number;
  /** Returns the whole output of the command. */
  output(): string;
  /** Stops as a person would, with Ctrl-C; resolves with the exit code and how long it took. */
  stop(): Promise<{ exitCode: number | null }>;
  /** Removes the data folder. */
  remove(): Promise<void>;
}

export interface PlatformOptions {
  /** Default: the probe project. */
  project?: string;
  /** Default: a new folder. */
  dataDir?: string;
  /** The program and its first arguments, such as an installed `runyard` and `dev`. Default: `npm start`. */
  command?: readonly string[];
  /** True for a platform whose events go over Kafka. Default: over Redis Streams, as they do for whoever asks for nothing. */
  kafka?: boolean;
  /** Further flags of the command. Default: edits of the project do not reload it. */
  flags?: readonly string[];
  /** Variables over this process's own environment. */
  env?: Record<string, string>;
}

export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const dataDir = options.dataDir ?? mkdtempSync(path.join(tmpdir(), 'runyard-e2e-'));
  const [program, ...words] = options.command ?? NPM_START;
  const project = options.project ?? PROBE_PROJECT;
  const args = [
    ...words,
    '--project',
    project,
    '--port',
    '0',
    '--data-dir',
    dataDir,
    ...(options.flags ?? ['--no-reload', '--quiet']),
  ];
  if (options.kafka) args.push('--kafka');
  const child = spawn(program!, args, {
    cwd: repository,
    // Tests receive webhooks there; `localhost` by its name stays refused.
    env: {
      ...process.env,
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32',
      LISTENER_LEASE_SECONDS: '4',
      BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '5',
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ready = await readyFile(path.join(dataDir, 'ready.json'), child, () => output);
  const first = ready.deployments[0];
  await waitUntilPrinted(LAST_LINE, child, () => output);
  if (!first) throw new Error(`no deployment in ready.json\n${output}`);
  return {
    ...ready,
    dataDir,
    deploymentUrl: first.url,
    pid: child.pid as number,
    output: () => output,
    stop: () => stop(child),
    remove: () => rm(dataDir, { recursive: true, force: true }),
  };
}

async function readyFile(file: string, child: ChildProcess, output: () => string): Promise<ReadyFile> {
  while (child.exitCode === null) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text) return JSON.parse(text) as ReadyFile;
    await delay(50);
  }
  throw new Error(`The platform ended with ${child.exitCode}\n${output()}`);
}

async function waitUntilPrinted(line: string, child: ChildProcess, output: () => string): Promise<void> {
  while (child.exitCode === null && !output().includes(line)) await delay(20);
}

async function stop(child: ChildProcess): Promise<{ exitCode: number | null }> {
  if (child.exitCode === null && child.signalCode === null && child.pid) {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGINT');
    await exited;
  }
  return { exitCode: child.exitCode };
}
