import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@runyard/local-infra';

const START_MS = 120_000;

/**
 * Starts `langgraph dev`, the public Python server, in the folder of a project.
 *
 * @param python an interpreter whose environment has it
 */
export async function startPublicServer(
  python: string,
  project: string,
): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['-m', 'langgraph_cli', 'dev', '--port', String(port), '--no-browser', '--no-reload'];
  const server = spawn(python, args, {
    cwd: project,
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
  };
  const deadline = Date.now() + START_MS;
  while (server.exitCode === null && Date.now() < deadline) {
    const isUp = await fetch(`${url}/ok`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return { url, stop };
    await pause(100);
  }
  await stop();
  throw new Error(`The public server did not start.\n${output}`);
}
