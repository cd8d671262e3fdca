/** The platform and the public Python server, with the same project and packages. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packagesOf, preparePython, startPublicPythonServer } from '@runyard/test-kit/python';
import { copyProject } from '../harness/official-cli.ts';
import { startPlatform } from '../harness/platform.ts';
import { RecordedClient } from './recorded-client.ts';

export interface ServerPair {
  newClients(): { our: RecordedClient; their: RecordedClient };
  stop(): Promise<void>;
}

const REQUIREMENTS = join(import.meta.dirname, 'requirements.txt');
/** The user of the workspace who runs its graphs. */
const ADA = { authorization: 'Bearer ada-token' };

export async function startPython(): Promise<ServerPair> {
  return startPair(await preparePython(REQUIREMENTS), join(import.meta.dirname, '../projects/python'));
}

/** Starts both with the packages that the workspace needs, and those of the public server beside them. */
export async function startWorkspace(): Promise<ServerPair> {
  const { folder, remove } = await copyProject('python-workspace');
  await leaveOut(folder, 'supervisor');
  const place = `${folder}-packages`;
  const env = { ...process.env, UV_PROJECT_ENVIRONMENT: place };
  const uv = join(dirname(await preparePython(REQUIREMENTS)), 'uv');
  const python = join(place, 'bin/python');
  for (const args of [
    ['lock', '--quiet'],
    ['sync', '--quiet', '--no-dev', '--package', 'assistants'],
    ['pip', 'install', '--quiet', '--compile-bytecode', '--python', python, '-r', REQUIREMENTS],
  ]) {
    await promisify(execFile)(uv, args, { cwd: folder, env });
  }
  const pair = await startPair(python, folder, ADA);
  return { ...pair, stop: () => pair.stop().finally(remove) };
}

/** Takes a graph out of a project: the public server refuses all of one that has a graph with a saver of its own. */
async function leaveOut(folder: string, graph: string): Promise<void> {
  const file = join(folder, 'langgraph.json');
  const { graphs, ...rest } = JSON.parse(await readFile(file, 'utf8'));
  const { [graph]: _, ...others } = graphs;
  await writeFile(file, JSON.stringify({ ...rest, graphs: others }));
}

/**
 * @param python an interpreter that has the public server and the packages of the project
 * @param headers those by which a project with users of its own knows the caller
 */
async function startPair(python: string, project: string, headers?: Record<string, string>): Promise<ServerPair> {
  const [theirs, ours] = await Promise.all([
    startPublicPythonServer(python, project),
    startPlatform({ project, env: packagesOf(python) }),
  ]);
  return {
    newClients: () => ({
      our: new RecordedClient({ url: ours.deploymentUrl, headers: headers ?? { 'x-api-key': ours.apiKey } }),
      their: new RecordedClient({ url: theirs.url, ...(headers && { headers }) }),
    }),
    async stop() {
      await Promise.all([theirs.stop(), ours.stop()]);
      await ours.remove();
    },
  };
}
