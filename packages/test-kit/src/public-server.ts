import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './free-port.ts';

const START_MS = 60_000;

/**
 * Starts the server as its own command line does, without watching files. The arguments are port and project folder.
 * The script leaves the server to a grandchild, so all of them are a process group, which ends when the input does,
 * also when this process was killed.
 */
const START = `
  import { readFileSync } from 'node:fs';
  const { spawnServer } = await import('@langchain/langgraph-api');
  const [port, project] = process.argv.slice(1);
  const config = { env: {}, ...JSON.parse(readFileSync(project + '/langgraph.json', 'utf8')) };
  process.stdin.resume().on('end', () => process.kill(-process.pid, 'SIGKILL'));
  await spawnServer(
    { host: '127.0.0.1', port, nJobsPerWorker: '10', reload: false },
    { config, env: process.env, hostUrl: 'http://127.0.0.1' },
    { pid: process.pid, projectCwd: project },
  );
`;

interface PublicServer {
  url: string;
  /** The root of its processes. */
  pid: number;
  stop(): Promise<void>;
}

/**
 * Starts the public in-memory server (`@langchain/langgraph-api`) on a copy of a project: it leaves files behind.
 *
 * @param folder the folder in whose `node_modules` it is installed
 */
export async function startPublicServer({
  folder,
  project,
}: {
  folder: string;
  project: string;
}): Promise<PublicServer> {
  const home = await mkdtemp(join(tmpdir(), 'runyard-public-'));
  const copy = join(home, basename(project));
  await cp(project, copy, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  // Server and graph share one LangGraph, as in an installation.
  await symlink(join(folder, 'node_modules'), join(copy, 'node_modules'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, ['--input-type=module', '--eval', START, '--', String(port), copy], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, LOG_LEVEL: 'error', LANGSMITH_TRACING: 'false' },
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr])
    stream.on('data', (chunk) => (output = (output + chunk).slice(-5_000)));
  const stop = async () => {
    const closed = once(server, 'close');
    server.stdin.end();
    if (server.exitCode === null && server.signalCode === null) await closed;
    await rm(home, { recursive: true, force: true });
  };
  try {
    await untilAnswers(url, server);
    return { url, pid: server.pid as number, stop };
  } catch (error) {
    await stop();
    throw new Error(`@langchain/langgraph-api did not start from ${folder}.\n${output}`, { cause: error });
  }
}

async function untilAnswers(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_MS;
  while (server.exitCode === null && Date.now() < deadline) {
    const isUp = await fetch(`${url}/ok`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await pause(100);
  }
  throw new Error('no answer');
}
