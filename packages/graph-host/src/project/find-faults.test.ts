import { expect, it } from 'vitest';
import { temporaryProject } from '../../test/temporary-project.ts';
import { findFaults } from './find-faults.ts';
import { readProject } from './read-project.ts';

async function faultsOf(config: object, files: Record<string, string> = {}): Promise<string[]> {
  const directory = await temporaryProject({ 'langgraph.json': JSON.stringify(config), ...files }, false);
  return findFaults(await readProject(directory, 'langgraph.json'));
}

it('a project whose files are there has no fault, before its packages are installed too', async () => {
  const config = { graphs: { agent: './src/agent.ts:graph' }, http: { app: './app.js:app' } };
  expect(await faultsOf(config, { 'src/agent.ts': '', 'app.js': '' })).toEqual([]);
});

it('each file that is missing or Python is named with its key', async () => {
  const config = {
    graphs: { one: './src/one.py:graph', two: { path: './two.ts:graph' } },
    auth: { path: './auth.ts:auth' },
  };
  expect(await faultsOf(config)).toEqual([
    'langgraph.json: "graphs.one" names src/one.py, which is Python: projects here are in JavaScript or TypeScript.',
    'langgraph.json: "graphs.two" names two.ts, which does not exist.',
    'langgraph.json: "auth.path" names auth.ts, which does not exist.',
  ]);
});

it('an installed LangGraph that is too old is named once, with the command that updates it', async () => {
  const manifest = { dependencies: { '@langchain/langgraph': '^0.2.40' } };
  const files = {
    'a.ts': '',
    'b.ts': '',
    'package.json': JSON.stringify(manifest),
    'pnpm-lock.yaml': '',
    'node_modules/@langchain/langgraph/package.json': '{ "version": "0.2.41" }',
  };
  expect(await faultsOf({ graphs: { a: './a.ts:graph', b: './b.ts:graph' } }, files)).toEqual([
    'The project has @langchain/langgraph 0.2.41; the oldest supported version is 0.2.57. Its package.json allows a newer one ("^0.2.40"): run `pnpm update @langchain/langgraph` and deploy again.',
  ]);
});

it.each([
  [
    'package-lock.json',
    '{ "packages": { "node_modules/@langchain/langgraph": {\n "version": "0.2.41",\n "resolved": "x" } } }',
  ],
  ['pnpm-lock.yaml', "packages:\n\n  '@langchain/langgraph@0.2.41':\n    resolution: {}\n"],
  ['pnpm-lock.yaml', 'packages:\n\n  /@langchain/langgraph@0.2.41(@langchain/core@0.3.1):\n    resolution: {}\n'],
  ['yarn.lock', '"@langchain/langgraph@^0.2.40":\n  version "0.2.41"\n'],
  ['yarn.lock', '"@langchain/langgraph@npm:^0.2.40":\n  version: 0.2.41\n'],
  ['bun.lock', '{ "packages": { "@langchain/langgraph": ["@langchain/langgraph@0.2.41", "", {}, "x"] } }'],
])('a LangGraph that is too old and only in %s is named too', async (name, text) => {
  const graphs = { agent: './src/agent.ts:graph' };
  const found = await faultsOf({ graphs }, { 'src/agent.ts': '', 'package.json': '{}', [name]: text });
  expect(found).toEqual([expect.stringContaining('The project has @langchain/langgraph 0.2.41; the oldest')]);
});

it('a lock file with a newer LangGraph, with one of several, or with none is no fault', async () => {
  const graphs = { agent: './agent.ts:graph' };
  const locked = (...versions: string[]) => ({
    'agent.ts': '',
    'yarn.lock': versions.map((version) => `"@langchain/langgraph@^${version}":\n  version "${version}"\n`).join('\n'),
  });
  for (const versions of [['0.4.10'], ['0.2.41', '1.0.0'], []]) {
    expect(await faultsOf({ graphs }, locked(...versions))).toEqual([]);
  }
});
