import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type FindRelease, findFaults } from './find-faults.ts';
import { readProject } from './read-project.ts';

async function faultsOf(
  config: object,
  files: Record<string, string> = {},
  findRelease: FindRelease = async () => undefined,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'project-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  for (const [name, content] of Object.entries({ 'langgraph.json': JSON.stringify(config), ...files })) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return findFaults(await readProject(directory, 'langgraph.json'), findRelease);
}

it('a project whose files are there has no fault, before its packages are installed too', async () => {
  const config = { graphs: { agent: './src/agent.ts:graph' }, http: { app: './app.js:app' } };
  expect(await faultsOf(config, { 'src/agent.ts': '', 'app.js': '' })).toEqual([]);
});

it('each file that is missing, or in another language than the graphs, is named with its key', async () => {
  const config = {
    graphs: { two: { path: './two.ts:graph' } },
    auth: { path: './src/auth.py:auth' },
  };
  expect(await faultsOf(config)).toEqual([
    'langgraph.json: "graphs.two" names two.ts, which does not exist.',
    'langgraph.json: "auth.path" names src/auth.py, and the graphs are in JavaScript: a project is in one language.',
  ]);
});

it('a Python project has files or modules', async () => {
  const config = { graphs: { one: 'my_package.agent:graph', two: './two.py:graph' }, http: { app: './app.py:app' } };
  expect(await faultsOf(config, { 'app.py': '' })).toEqual([
    'langgraph.json: "graphs.two" names two.py, which does not exist.',
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

it('a LangGraph that will be installed is named when it is too old, whatever is installed by now', async () => {
  const config = { graphs: { agent: './src/agent.ts:graph' } };
  const willBe = (version: string) => async (name: string, folder: string) =>
    name === '@langchain/langgraph' && folder.endsWith('/src') ? version : undefined;
  expect(await faultsOf(config, { 'src/agent.ts': '' }, willBe('0.2.41'))).toEqual([
    'The project has @langchain/langgraph 0.2.41; the oldest supported version is 0.2.57. Update it and deploy again.',
  ]);
  expect(await faultsOf(config, { 'src/agent.ts': '' }, willBe('0.2.57'))).toEqual([]);
  const installed = { 'node_modules/@langchain/langgraph/package.json': '{ "version": "0.2.41" }' };
  expect(await faultsOf(config, { 'src/agent.ts': '', ...installed }, willBe('1.0.0'))).toEqual([]);
});
