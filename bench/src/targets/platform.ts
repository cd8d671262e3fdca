import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client, type Endpoint, readBody } from '../load/client.ts';
import type { StartedTarget } from './target.ts';

interface Ready {
  url: string;
  apiKey: string;
  deployments: { url: string }[];
}

export interface StartedPlatform extends StartedTarget {
  /** The platform itself. */
  edge: Endpoint;
}

/**
 * Starts the whole platform as `npm start` does.
 *
 * @param options.dataDir stays when the platform stops; left out for a temporary one
 */
export async function startPlatform(options: {
  repository: string;
  project: string;
  dataDir?: string;
  /** True for a platform whose events go over Kafka, as they do in production. */
  kafka?: boolean;
  /** False: it is not waited for until the schemas of the graph are read. */
  isSettled?: boolean;
  /** Variables over those of this process. */
  env?: Record<string, string>;
  /** How it is called in what is printed. */
  name?: string;
}): Promise<StartedPlatform> {
  const { repository, project } = options;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'runyard-bench-')));
  const flags = [
    '--project',
    project,
    '--port',
    '0',
    '--no-reload',
    '--quiet',
    '--data-dir',
    dataDir,
    ...(options.kafka ? ['--kafka'] : []),
  ];
  const launcher = spawn(process.execPath, [join(repository, 'infra/launcher/dist/main.js'), ...flags], {
    cwd: repository,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr]) stream.on('data', (chunk) => (output += chunk));
  const stop = async () => {
    if (launcher.exitCode === null && launcher.signalCode === null) {
      const exited = once(launcher, 'exit');
      launcher.kill('SIGINT');
      await exited;
    }
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const ready = await readyFile(join(dataDir, 'ready.json'), () => launcher.exitCode === null);
    const headers = { 'x-api-key': ready.apiKey };
    const [deployment] = ready.deployments;
    if (!deployment) throw new Error('there is no deployment');
    if (options.isSettled !== false) await awaitSchemas({ url: deployment.url, headers });
    return {
      name: options.name ?? 'gateway',
      url: deployment.url,
      headers,
      edge: { url: ready.url, headers },
      observed: [{ url: deployment.url, headers }],
      rootPid: launcher.pid as number,
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(`The platform did not start.\n${output}`, { cause: error });
  }
}

/**
 * Waits until the schemas of the graph are read by asking for them: a server reads them some seconds after its start
 * by itself, which takes seconds of a core.
 */
async function awaitSchemas(endpoint: Endpoint): Promise<void> {
  const client = new Client(endpoint, 1);
  try {
    const [assistant] = JSON.parse(await readBody(await client.post('/assistants/search', {})));
    await readBody(await client.get(`/assistants/${assistant.assistant_id}/schemas`));
  } finally {
    client.close();
  }
}

async function readyFile(path: string, isRunning: () => boolean): Promise<Ready> {
  while (isRunning()) {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    if (text) return JSON.parse(text);
    await pause(100);
  }
  throw new Error('the launcher has ended');
}
