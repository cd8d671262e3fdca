import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPublicServer } from '@runyard/test-kit';
import { preparePython, startPublicPythonServer } from '@runyard/test-kit/python';
import { PROBE_PROJECT } from '../harness/platform.ts';
import type { MovedGraphs } from './filled-server.ts';

export interface PublicServers {
  from: string;
  backTo: string;
  stop(): Promise<void>;
}

export const JAVASCRIPT_GRAPHS: MovedGraphs = {
  conversation: 'chat',
  asking: { graph: 'approval', input: { request: 'send it' } },
};
export const PYTHON_GRAPHS: MovedGraphs = {
  conversation: 'tools',
  asking: { graph: 'asks', input: { answers: [] } },
};

const E2E = path.resolve(import.meta.dirname, '..');
export const PYTHON_PROJECT = path.join(E2E, 'projects/python');

/** Starts two public servers of JavaScript with the graphs of the probe project that are moved. */
export async function startJavaScriptServers(): Promise<PublicServers> {
  const project = await mkdtemp(path.join(tmpdir(), 'runyard-moved-'));
  await cp(path.join(PROBE_PROJECT, 'graphs'), path.join(project, 'graphs'), { recursive: true });
  const { conversation, asking } = JAVASCRIPT_GRAPHS;
  const graphs = [conversation, asking.graph].map((name) => [name, `./graphs/${name}.ts:graph`]);
  await writeFile(path.join(project, 'langgraph.json'), JSON.stringify({ graphs: Object.fromEntries(graphs) }));
  const start = () => startPublicServer({ folder: E2E, project });
  const [from, backTo] = await Promise.all([start(), start()]);
  return {
    from: from.url,
    backTo: backTo.url,
    async stop() {
      await Promise.all([from.stop(), backTo.stop()]);
      await rm(project, { recursive: true });
    },
  };
}

/** Starts two public servers of Python, whose packages are installed from PyPI. */
export async function startPythonServers(): Promise<PublicServers & { python: string }> {
  const python = await preparePython(path.join(E2E, 'oracle/requirements.txt'));
  const start = () => startPublicPythonServer(python, PYTHON_PROJECT);
  const [from, backTo] = await Promise.all([start(), start()]);
  const stop = () => Promise.all([from.stop(), backTo.stop()]).then(() => undefined);
  return { from: from.url, backTo: backTo.url, python, stop };
}
