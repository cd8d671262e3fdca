/** Descriptions of graphs that a host makes without running them. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { graphOf, stateWith } from '../test/graph-sources.ts';
import { type HostUnderTest, startHost } from '../test/host-under-test.ts';
import { temporaryProject } from '../test/temporary-project.ts';

let host: HostUnderTest;
beforeAll(async () => {
  host = await startHost('described');
});
afterAll(() => host?.close());

const config = { configurable: {} };
const draw = (graphId: string, options: object = {}) => host.drawGraph({ graphId, config, xray: false, ...options });
const schemas = (graphId: string, sourceTimeoutMs = 60_000) => host.getSchemas({ graphId, config, sourceTimeoutMs });
const subgraphs = (graphId: string, options: object = {}) =>
  host.getSubgraphs({ graphId, config, recurse: false, sourceTimeoutMs: 60_000, ...options });
const names = (drawing: { nodes: Record<string, unknown>[] }) => drawing.nodes.map(({ id }) => id);

describe('a drawing', () => {
  it('has the nodes and edges of the graph', async () => {
    expect(await draw('typed')).toMatchObject({
      nodes: [
        { id: '__start__', type: 'schema' },
        { id: 'reply', type: 'runnable', data: { name: 'reply' } },
        { id: '__end__' },
      ],
      edges: [
        { source: '__start__', target: 'reply' },
        { source: 'reply', target: '__end__' },
      ],
    });
  });

  it('shows the subgraphs down to the requested depth', async () => {
    expect(names(await draw('nested'))).toEqual(['__start__', 'middle', 'alone', '__end__']);
    expect(names(await draw('nested', { xray: 1 }))).toContain('middle:inner');
    expect(names(await draw('nested', { xray: true }))).toContain('middle:inner:count');
  });

  it('shows the graph that a factory makes from the config', async () => {
    expect(names(await draw('factory'))).toContain('only');
    const twoSteps = { configurable: { steps: ['one', 'two'] } };
    expect(names(await draw('factory', { config: twoSteps }))).toEqual(['__start__', 'one', 'two', '__end__']);
  });

  it('fails with the error of the factory, or when there is no such graph', async () => {
    const failing = draw('factory', { config: { configurable: { steps: [] } } });
    await expect(failing).rejects.toMatchObject({ reason: 'failed', name: 'RangeError', message: 'no steps' });
    await expect(draw('nowhere')).rejects.toMatchObject({ reason: 'not_found' });
  });
});

describe('schemas', () => {
  it('come from zod, with what was registered with LangGraph', async () => {
    expect(await schemas('zod')).toMatchObject({
      input_schema: {
        properties: {
          topic: { type: 'string', description: 'What it is about.', langgraph_type: 'prompt' },
          score: { type: 'number' },
        },
      },
      output_schema: { properties: { topic: { type: 'string' } } },
      state_schema: { properties: { topic: { type: 'string' } }, required: ['topic'] },
      config_schema: { properties: { model: { enum: ['small', 'large'] } } },
      context_schema: { properties: { model: { enum: ['small', 'large'] } } },
    });
  });

  it('come from a StateSchema', async () => {
    const { state_schema, context_schema } = await schemas('state-schema');
    expect(state_schema).toMatchObject({
      properties: { title: { type: 'string' }, messages: { langgraph_type: 'messages' } },
    });
    expect(context_schema).toBeNull();
  });

  it('come from the types in the source when the graph carries none', async () => {
    const typed = await schemas('typed');
    expect(typed.input_schema).toMatchObject({ properties: { question: { type: 'string' } } });
    expect(typed.input_schema).not.toHaveProperty('required');
    expect(typed.output_schema).toMatchObject({
      properties: { answer: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
      required: ['answer'],
    });
    expect(typed.context_schema).toMatchObject({ properties: { tone: { enum: ['polite', 'curt'] } } });
    expect(typed.config_schema).toEqual(typed.context_schema);
    expect(typed.state_schema).toMatchObject({
      properties: {
        messages: { type: 'array', items: { $ref: '#/definitions/BaseMessage' }, langgraph_type: 'messages' },
        last: { anyOf: [{ type: 'null' }, { $ref: '#/definitions/BaseMessage' }] },
        total: { type: 'number' },
        tree: { $ref: '#/definitions/Branch' },
        items: {
          items: {
            properties: {
              count: { type: 'number', description: 'How many there are.' },
              kind: { enum: ['small', 'large'] },
              at: { type: 'string', format: 'date-time' },
              parts: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], maxItems: 2 },
              by: { additionalProperties: { type: 'boolean' } },
            },
            required: ['count', 'kind', 'at', 'parts', 'by'],
          },
        },
      },
      definitions: {
        Branch: { properties: { branches: { type: 'array', items: { $ref: '#/definitions/Branch' } } } },
      },
    });
  });

  it('are read from factories and from JavaScript too', async () => {
    expect(await schemas('factory')).toMatchObject({ state_schema: { properties: { text: { type: 'string' } } } });
    expect(await schemas('plain')).toMatchObject({
      output_schema: { properties: { list: { type: 'array', items: { type: 'string' } } } },
    });
  });

  it('are null, with a warning, when reading them takes too long', async () => {
    const hurried = await startHost('described');
    try {
      const warned = hurried.nextLog(({ level }) => level === 'warn');
      expect(await hurried.getSchemas({ graphId: 'typed', config, sourceTimeoutMs: 1 })).toEqual({
        input_schema: null,
        output_schema: null,
        state_schema: null,
        config_schema: null,
        context_schema: null,
      });
      expect((await warned).message).toMatch(/"typed".*longer than 1 ms/);
    } finally {
      await hurried.close();
    }
  });
});

describe('input keys', () => {
  it('are those of the compiled graph, however its state is written', async () => {
    const keysOf = (graphId: string) => host.getInputKeys({ graphId, config });
    expect(await keysOf('typed')).toEqual(['question']);
    expect(await keysOf('zod')).toEqual(['topic', 'score']);
    expect(await keysOf('state-schema')).toEqual(['messages', 'title']);
    expect(await keysOf('factory')).toEqual(['text']);
    expect(await keysOf('functions')).toBeNull();
    await expect(keysOf('nowhere')).rejects.toMatchObject({ reason: 'not_found' });
  });
});

describe('subgraphs', () => {
  it('have their schemas under their node, and deeper ones on request', async () => {
    const direct = await subgraphs('nested');
    expect(Object.keys(direct)).toEqual(['middle']);
    expect(direct.middle?.state_schema).toMatchObject({
      properties: { text: { type: 'string' }, deep: { type: 'number' } },
    });
    expect(Object.keys(await subgraphs('nested', { recurse: true }))).toEqual(['middle', 'middle|inner']);
    expect(await subgraphs('typed')).toEqual({});
  });

  it('are limited to the requested namespace', async () => {
    expect(Object.keys(await subgraphs('nested', { namespace: 'middle' }))).toEqual(['middle']);
    const deep = await subgraphs('nested', { namespace: 'middle|inner', recurse: true });
    expect(deep).toMatchObject({ 'middle|inner': { output_schema: { properties: { deep: { type: 'number' } } } } });
    expect(await subgraphs('nested', { namespace: 'middle|inner' })).toEqual({});
    expect(await subgraphs('nested', { namespace: 'nowhere' })).toEqual({});
  });
});

it('schemas that a build has stored are answered without reading the source, until that changes', async () => {
  const directory = await temporaryProject({
    'langgraph.json': JSON.stringify({
      graphs: { agent: './agent.ts:graph', whole: './whole.ts:graph', untyped: './untyped.ts:graph' },
    }),
    'untyped.ts': "import { graph as typed } from './agent.ts';\nexport const graph: any = typed;",
    'state.ts': stateWith('question'),
    'agent.ts': graphOf("import { State } from './state.ts';"),
    'whole.ts': graphOf("import { z } from 'zod';\nconst State = z.object({ text: z.string() });"),
  });
  const start = async () => {
    const project = await startHost('', { configPath: join(directory, 'langgraph.json') });
    onTestFinished(() => project.close());
    return project;
  };
  const stateIn = async (project: HostUnderTest, sourceTimeoutMs: number) =>
    (await project.getSchemas({ graphId: 'agent', config, sourceTimeoutMs })).state_schema;
  const readIn1Ms = (project: HostUnderTest) => stateIn(project, 1);

  const building = await start();
  // A graph that carries its schemas is not read.
  expect(await building.storeSchemas({ sourceTimeoutMs: 60_000 })).toBe(1);
  expect(building.logs).toMatchObject([{ level: 'warn', message: expect.stringContaining('"untyped"') }]);
  const stored = JSON.parse(await readFile(join(directory, '.runyard/graph-schemas.json'), 'utf8'));
  expect(stored.schemas).toEqual({ 'agent.ts:graph': expect.anything(), 'untyped.ts:graph': null });
  expect(await readFile(join(directory, '.runyard/.gitignore'), 'utf8')).toBe('*\n');
  expect(Object.keys(stored.files)).toEqual(expect.arrayContaining(['agent.ts', 'state.ts', 'package-lock.json']));
  expect(Object.keys(stored.files).filter((path) => path.includes('node_modules/@'))).toEqual([]);
  expect(await readIn1Ms(await start())).toMatchObject({ properties: { question: { type: 'string' } } });

  await writeFile(join(directory, 'state.ts'), stateWith('changed'));
  const changed = await start();
  expect(await stateIn(changed, 60_000)).toMatchObject({ properties: { changed: { type: 'string' } } });
  await writeFile(join(directory, 'state.ts'), stateWith('question'));
  await writeFile(join(directory, 'package-lock.json'), '{}');
  expect(await readIn1Ms(await start())).toBeNull();
});

it('schemas are read ahead once, and known to their process also where they cannot be stored', async () => {
  const directory = await temporaryProject({
    'state.ts': stateWith('question'),
    'agent.ts': graphOf("import { State } from './state.ts';"),
  });
  const ahead = { sourceTimeoutMs: 60_000, inBackground: true };
  const answerOf = async (project: HostUnderTest) =>
    (await project.getSchemas({ graphId: 'agent', config, sourceTimeoutMs: 1 })).state_schema;
  const start = async () => {
    const project = await startHost('', { configPath: join(directory, 'langgraph.json') });
    onTestFinished(() => project.close());
    return project;
  };
  // No folder can be made where a file is, whoever tries.
  await writeFile(join(directory, '.runyard'), '');
  const closed = await start();
  await expect(closed.storeSchemas(ahead)).rejects.toThrow('EEXIST');
  expect(await answerOf(closed)).toMatchObject({ properties: { question: { type: 'string' } } });

  await rm(join(directory, '.runyard'));
  expect(await (await start()).storeSchemas(ahead)).toBe(1);
  const later = await start();
  // Nothing can be read in a millisecond.
  expect(await later.storeSchemas({ ...ahead, sourceTimeoutMs: 1 })).toBe(1);
  expect(later.logs).toEqual([]);
});
