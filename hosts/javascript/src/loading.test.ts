import { GraphLoadError, type HostLog } from '@runyard/host-protocol';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  executionRequest,
  fixtures,
  type HostUnderTest,
  memoryBackends,
  runToEnd,
  startHost,
} from '../test/host-under-test.ts';
import { temporaryProject } from '../test/temporary-project.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('basic', { loopback: { socketPath: '/nowhere', token: '' } });
});
afterAll(() => host.close());

async function loadFailure(projectDir: string, startTimeoutMs?: number): Promise<GraphLoadError> {
  const configPath = `${projectDir}/langgraph.json`;
  const started = startHost('', { configPath, ...(startTimeoutMs !== undefined && { startTimeoutMs }) });
  return started.then(
    async (unexpected) => {
      await unexpected.close();
      throw new Error('the project loaded');
    },
    (error) => error as GraphLoadError,
  );
}

it('a host lists the graphs of the project', () => {
  expect(host.graphs()).toEqual(
    expect.arrayContaining([
      { graphId: 'echo', isFactory: false },
      { graphId: 'hitl', description: 'Asks before it goes on', isFactory: false },
      { graphId: 'exports-factory', isFactory: true },
    ]),
  );
});

it.each([
  ['exports-builder', 'hi builder'],
  ['exports-promise', 'hi promised'],
  ['exports-own-saver', 'hi own'],
])('a host loads the export of %s', async (graphId, text) => {
  const backends = memoryBackends();
  const { values } = await runToEnd(host, executionRequest(graphId, { input: { text: 'hi' } }), backends);
  expect(values).toEqual({ text });
  expect(backends.checkpoints.stored).toHaveLength(3);
});

it('a host calls a factory for each use, with the config of that use', async () => {
  const tones = await Promise.all(
    ['kind', 'stern'].map((tone) =>
      runToEnd(
        host,
        executionRequest('exports-factory', { input: { text: 'hi' }, config: { configurable: { tone } } }),
      ),
    ),
  );
  expect(tones.map(({ values }) => values)).toEqual([{ text: 'hi kind' }, { text: 'hi stern' }]);
});

it('a host loads the graph inside an agent of createAgent', async () => {
  const { values } = await runToEnd(host, executionRequest('agent', { input: { messages: ['hi'] } }));
  expect(values?.messages).toHaveLength(2);
});

it('a host warns that it replaces a compiled-in checkpointer', () => {
  expect(host.logs).toContainEqual({
    level: 'warn',
    message: 'Graph "exports-own-saver" is compiled with its own checkpointer; the platform\'s is used instead.',
  });
});

it.each([
  ['a class that checkpointer.serde.allowed_json_modules lists is of it again', [['langchain_core', 'prompts']], true],
  ['another class is plain data', [['langchain_core', 'tools']], false],
])('a stored value of %s in the next run', async (_, modules, isRevived) => {
  const checkpointer = { serde: { allowed_json_modules: modules } };
  const directory = await temporaryProject({
    'langgraph.json': JSON.stringify({ graphs: { agent: './agent.ts:graph' }, checkpointer }),
    'agent.ts': `
      import { ChatPromptTemplate } from '@langchain/core/prompts';
      import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
      const State = Annotation.Root({ prompt: Annotation<unknown>(), isRevived: Annotation<boolean>() });
      export const graph = new StateGraph(State)
        .addNode('look', ({ prompt }) =>
          prompt
            ? { isRevived: prompt instanceof ChatPromptTemplate }
            : { prompt: ChatPromptTemplate.fromMessages([['human', 'hi']]) },
        )
        .addEdge(START, 'look')
        .addEdge('look', END)
        .compile();`,
  });
  const own = await startHost('', { configPath: `${directory}/langgraph.json` });
  const backends = memoryBackends();
  const runAgain = () => runToEnd(own, executionRequest('agent', { threadId: 'thread', input: {} }), backends);
  try {
    await runAgain();
    expect((await runAgain()).values).toMatchObject({ isRevived });
  } finally {
    await own.close();
  }
});

it('a host loads CommonJS and ES modules of one project, each with its own form of LangGraph', async () => {
  const commonjs = await startHost('commonjs');
  for (const graphId of ['typed', 'plain', 'module']) {
    const backends = memoryBackends();
    const { values } = await runToEnd(commonjs, executionRequest(graphId, { input: { text: 'hi' } }), backends);
    expect(values).toEqual({ text: graphId });
    expect(backends.checkpoints.stored.length).toBeGreaterThan(0);
  }
  await commonjs.close();
});

it('a host loads LangGraph before the TypeScript loader, which would read each of its source maps', async () => {
  const source = `
    import { findSourceMap } from 'node:module';
    import { fileURLToPath } from 'node:url';
    import '@langchain/langgraph';
    const mapOf = (url: string) => typeof findSourceMap(fileURLToPath(url));
    throw new Error([import.meta.url, import.meta.resolve('@langchain/langgraph')].map(mapOf).join());`;
  expect((await loadFailure(await temporaryProject({ 'agent.ts': source }))).message).toContain('object,undefined');
});

it('processes that the project starts understand TypeScript', async () => {
  const source = `
    import { fork } from 'node:child_process';
    import { once } from 'node:events';
    import { fileURLToPath } from 'node:url';
    const [said] = await once(fork(fileURLToPath(new URL('./part.ts', import.meta.url))), 'message');
    throw new Error(said);`;
  const part = `const said: string = 'typed'; process.send!(said, () => process.exit());`;
  const { message } = await loadFailure(await temporaryProject({ 'agent.ts': source, 'part.ts': part }));
  expect(message).toContain('did not load: typed');
});

it('the error for a syntax error has its file and line', async () => {
  const error = await loadFailure(await temporaryProject({ 'agent.ts': 'export const graph = {\n  broken: (\n};\n' }));
  expect(error).toBeInstanceOf(GraphLoadError);
  expect(error.graphId).toBe('agent');
  expect(error.message).toMatch(/^Graph "agent" did not load: /);
  expect(error.message).toMatch(/agent\.ts:3:0/);
});

it('the error for a file that throws has the message and source line', async () => {
  const source = `
    interface Settings { key: string }

    function settings(): Settings {
      throw new TypeError('SETTINGS are missing');
    }
    export const graph = settings();`;
  const projectDir = await temporaryProject({ 'agent.ts': source });
  const { message } = await loadFailure(projectDir);
  expect(message).toContain('Graph "agent" did not load: TypeError: SETTINGS are missing');
  expect(message).toMatch(/at settings \(agent\.ts:5:\d+\)/);
  expect(message).not.toContain(projectDir);
});

it('the error for a missing file or export names it', async () => {
  expect((await loadFailure(await temporaryProject({}))).message).toBe(
    'Graph "agent" did not load: agent.ts does not exist. Correct the path in langgraph.json.',
  );
  const exportsOthers = await temporaryProject({ 'agent.ts': 'export const agent = {};\nexport const helper = 1;' });
  expect((await loadFailure(exportsOthers)).message).toBe(
    'Graph "agent" did not load: agent.ts has no export named "graph". It exports agent, helper.',
  );
});

it('the error for an export that is no graph says what it is', async () => {
  const { message } = await loadFailure(await temporaryProject({ 'agent.ts': 'export const graph = new Map();' }));
  expect(message).toContain('The export "graph" is a Map, not a graph.');
});

it('the error says that LangGraph is not installed, or which version is too old', async () => {
  const agent = { 'agent.ts': 'export const graph = { stream() {}, getState() {} };' };
  expect((await loadFailure(await temporaryProject(agent, false))).message).toMatch(
    /@langchain\/langgraph is not installed for agent\.ts/,
  );
  const installed = 'node_modules/@langchain/langgraph';
  const old = {
    ...agent,
    'package.json': '{ "type": "module", "dependencies": { "@langchain/langgraph": "^0.2.40" } }',
    [`${installed}/package.json`]: '{ "name": "@langchain/langgraph", "version": "0.2.56", "main": "index.js" }',
    [`${installed}/index.js`]: '',
  };
  expect((await loadFailure(await temporaryProject(old, false))).message).toMatch(
    /The project has @langchain\/langgraph 0\.2\.56; the oldest supported version is 0\.2\.57\. Its package\.json allows a newer one \("\^0\.2\.40"\): run `npm update @langchain\/langgraph` and deploy again\./,
  );
});

it('a missing env file is named, relative to the project, when the project does not load', async () => {
  const config = JSON.stringify({ graphs: { agent: './agent.ts:graph' }, env: 'config/.env' });
  const projectDir = await temporaryProject({ 'agent.ts': 'throw new Error("no key")', 'langgraph.json': config });
  const lines: string[] = [];
  const onLog = ({ message }: HostLog) => void lines.push(message);
  await expect(startHost('', { configPath: `${projectDir}/langgraph.json`, onLog })).rejects.toThrow('no key');
  expect(lines).toContain('There is no env file config/.env.');
});

it('the error says that a project takes too long to load, and no process is left behind', async () => {
  const source = 'await new Promise((resolve) => setTimeout(resolve, 60_000));\nexport const graph = {};';
  const { message } = await loadFailure(await temporaryProject({ 'agent.ts': source }), 1500);
  expect(message).toBe('The project did not load within 1500 ms.');
});

it('the error names the field of langgraph.json whose module never ends loading', async () => {
  const directory = await temporaryProject({ 'hangs.ts': 'await new Promise(() => {});\nexport const it = {};' });
  const source = { file: `${directory}/hangs.ts`, symbol: 'it' };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const loading = [host.loadAuth(source), host.loadEncryption(source), host.serveApp(source, `${directory}/socket`)];
    const refusals = Promise.all(loading.map((each) => each.catch((error: unknown) => error)));
    await vi.advanceTimersByTimeAsync(60_000);
    const fields = ['auth.path', 'encryption.path', 'http.app'];
    expect(await refusals).toEqual(
      fields.map((field) => new GraphLoadError(`What "${field}" names did not load within 60000 ms.`)),
    );
  } finally {
    vi.useRealTimers();
  }
});

it('the error says that there is no project', async () => {
  const started = startHost('basic', { configPath: `${fixtures}basic/nowhere.json` });
  await expect(started).rejects.toThrow(/no readable .*nowhere\.json/);
});
