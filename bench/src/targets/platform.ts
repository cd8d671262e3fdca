import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Target } from './target.ts';

interface Ready {
  url: string;
  apiKey: string;
  deployments: { url: string }[];
}

/** Starts the whole platform as `npm start` does, with a temporary data folder. */
export async function startPlatform({ repository, project }: { repository: string; project: string }): Promise<Target> {
  const dataDir = await mkdtemp(join(tmpdir(), 'runyard-bench-'));
  const launcher = spawn(
    process.execPath,
    [join(repository, 'infra/launcher/dist/main.js'), '--project', project, '--port', '0', '--data-dir', dataDir],
    { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let output = '';
  for (const stream of [launcher.stdout, launcher.stderr]) stream.on('data', (chunk) => (output += chunk));
  const stop = async () => {
    if (launcher.exitCode === null && launcher.signalCode === null) {
      const exited = once(launcher, 'exit');
      launcher.kill('SIGINT');
      await exited;
    }
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const ready = await readyFile(join(dataDir, 'ready.json'), () => launcher.exitCode === null);
    const headers = { 'x-api-key': ready.apiKey };
    const [deployment] = ready.deployments;
    if (!deployment) throw new Error('there is no deployment');
    return {
      name: 'gateway',
      url: deployment.url,
      headers,
      observed: [
        { url: ready.url, headers },
        { url: deployment.url, headers },
      ],
      rootPid: launcher.pid as number,
      stop,
    };
  } catch (error) {
    await stop();
    throw new Error(`The platform did not start.\n${output}`, { cause: error });
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
