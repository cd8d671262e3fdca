import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../free-port.ts';

const START_MS = 120_000;

interface PublicPythonServer {
  url: string;
  /** The root of its processes. */
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts `langgraph dev`, the public Python server, on a copy of a project: it writes into its folder.
 *
 * @param python an interpreter whose environment has it
 */
export async function startPublicPythonServer(python: string, project: string): Promise<PublicPythonServer> {
  const home = await mkdtemp(join(tmpdir(), 'runyard-public-python-'));
  const folder = join(home, basename(project));
  await cp(project, folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['-m', 'langgraph_cli', 'dev', '--port', String(port), '--no-browser', '--no-reload'];
  const server = spawn(python, args, {
    cwd: folder,
    env: { ...process.env, LANGSMITH_TRACING: 'false', LANGGRAPH_CLI_NO_ANALYTICS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-10_000)));
  const closed = once(server, 'close');
  const stop = async () => {
    if (server.exitCode === null && server.pid) process.kill(-server.pid, 'SIGKILL');
    await closed;
    await rm(home, { recursive: true });
  };
  const deadline = Date.now() + START_MS;
  while (server.exitCode === null && Date.now() < deadline) {
    const isUp = await fetch(`${url}/ok`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { url, pid: server.pid as number, stop };
    await pause(100);
  }
  await stop();
  throw new Error(`The public Python server did not start.\n${output}`);
}
