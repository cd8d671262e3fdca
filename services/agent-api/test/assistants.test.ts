import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const ECHO = '046b5dc7-2108-582c-9c6c-31d556d138f0';
const post = (path: string, body: unknown) => ask(deployment.url + path, { body });

describe('the default assistant of a graph', () => {
  it('exists from the start, with the id every server gives it', async () => {
    expect(await deployment.client.assistants.get(ECHO)).toMatchObject({
      assistant_id: ECHO,
      graph_id: 'echo',
      name: 'echo',
      metadata: { created_by: 'system' },
      version: 1,
      config: {},
      context: {},
    });
    expect(await deployment.client.assistants.get('assembly')).toMatchObject({ description: 'Puts parts together' });
  });

  it('is found by the name of its graph too, on every route', async () => {
    expect(await ask(`${deployment.url}/assistants/echo`)).toMatchObject({ status: 200, json: { assistant_id: ECHO } });
    expect((await post('/assistants/echo/versions', {})).json).toMatchObject([{ assistant_id: ECHO, version: 1 }]);
  });

  it('is refused under a name that is neither an id nor a graph', async () => {
    expect(await ask(`${deployment.url}/assistants/nope`)).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(/^Invalid assistant: 'nope'. Must be either:/) },
    });
    const id = randomUUID();
    expect(await ask(`${deployment.url}/assistants/${id}`)).toMatchObject({
      status: 404,
      json: { detail: `Assistant with ID ${id} not found` },
    });
  });
});

describe('creating an assistant', () => {
  it('names it Untitled and mirrors configurable into context', async () => {
    const { json, status } = await post('/assistants', { graph_id: 'echo', config: { configurable: { tone: 'x' } } });
    expect(status).toBe(200);
    expect(json).toMatchObject({ name: 'Untitled', version: 1, context: { tone: 'x' }, description: null });
    expect(await deployment.client.assistants.create({ graphId: 'echo', context: { tone: 'y' } })).toMatchObject({
      config: { configurable: { tone: 'y' } },
    });
  });

  it('refuses configurable and context together', async () => {
    const both = { graph_id: 'echo', config: { configurable: { a: 1 } }, context: { b: 1 } };
    expect((await post('/assistants', both)).status).toBe(400);
  });

  it('refuses a graph the project does not have', async () => {
    expect(await post('/assistants', { graph_id: 'zap' })).toMatchObject({
      status: 404,
      json: { detail: expect.stringMatching(/^Graph 'zap' not found. Expected one of: .*echo/) },
    });
  });

  it('refuses an id that is taken, or returns the assistant that has it', async () => {
    const assistant_id = randomUUID();
    await post('/assistants', { assistant_id, graph_id: 'echo', name: 'first' });
    expect((await post('/assistants', { assistant_id, graph_id: 'echo' })).status).toBe(409);
    const again = await post('/assistants', {
      assistant_id,
      graph_id: 'echo',
      name: 'second',
      if_exists: 'do_nothing',
    });
    expect(again).toMatchObject({ status: 200, json: { name: 'first' } });
  });

  it('gives runs its configuration and metadata', async () => {
    const { assistant_id } = await deployment.client.assistants.create({
      graphId: 'echo',
      config: { recursion_limit: 7, configurable: { tone: 'x' } },
      metadata: { team: 'blue' },
    });
    const run = await deployment.client.runs.create(null, assistant_id, { input: {}, config: { tags: ['t'] } });
    expect(run).toMatchObject({
      assistant_id,
      metadata: { created_by: 'user', graph_id: 'echo', assistant_id, team: 'blue' },
      kwargs: { config: { recursion_limit: 7, tags: ['t'], configurable: { tone: 'x' } }, context: { tone: 'x' } },
    });
  });
});

describe('changing an assistant', () => {
  const create = (fields: object) => deployment.client.assistants.create({ graphId: 'echo', ...fields });
  const patch = (id: string, body: unknown) => ask(`${deployment.url}/assistants/${id}`, { method: 'PATCH', body });

  it('merges metadata, keeps what is not named and makes a new version', async () => {
    const { assistant_id } = await create({ name: 'first', metadata: { a: 1, b: { c: 1 } }, description: 'kept' });
    const { json } = await patch(assistant_id, { name: 'second', metadata: { b: { d: 2 }, created_by: 'me' } });
    expect(json).toMatchObject({ name: 'second', description: 'kept', version: 2 });
    expect((json as { metadata: unknown }).metadata).toEqual({ a: 1, b: { d: 2 } });
    expect(await deployment.client.assistants.get(assistant_id)).toEqual(json);
    expect(await patch(assistant_id, { graph_id: 'slow', description: 'new' })).toMatchObject({
      json: { graph_id: 'slow', description: 'new', name: 'second', version: 3 },
    });
  });

  it('replaces config and context as a whole and mirrors them', async () => {
    const { assistant_id } = await create({ config: { tags: ['t'], recursion_limit: 5, configurable: { x: 1 } } });
    expect(await patch(assistant_id, { context: { y: 2 } })).toMatchObject({
      json: { config: { tags: ['t'], recursion_limit: 5, configurable: { y: 2 } }, context: { y: 2 } },
    });
    const replaced = (await patch(assistant_id, { config: { configurable: { z: 3 } } })).json;
    expect(replaced).toMatchObject({ context: { z: 3 }, version: 3 });
    expect((replaced as { config: unknown }).config).toEqual({ configurable: { z: 3 } });
    const both = await patch(assistant_id, { config: { configurable: { a: 1 } }, context: { b: 1 } });
    expect(both).toMatchObject({ status: 400, json: { detail: expect.stringContaining('Cannot specify both') } });
  });

  it('gives every one of many concurrent changes a version of its own', async () => {
    const { assistant_id } = await create({});
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => patch(assistant_id, { metadata: { [n]: n } })),
    );
    expect(answers.map(({ json }) => (json as { version: number }).version).sort()).toEqual([2, 3, 4, 5, 6]);
    expect((await deployment.client.assistants.get(assistant_id)).metadata).toEqual({ 0: 0, 1: 1, 2: 2, 3: 3, 4: 4 });
  });

  it('refuses an assistant or a graph that does not exist', async () => {
    expect((await patch(randomUUID(), {})).status).toBe(404);
    const { assistant_id } = await create({});
    expect(await patch(assistant_id, { graph_id: 'zap' })).toMatchObject({ status: 404 });
    expect(await patch(assistant_id, { name: 5 })).toMatchObject({
      status: 422,
      json: { detail: expect.stringMatching(/^name/) },
    });
  });

  it('lists versions newest first and restores one with all it had', async () => {
    const { assistant_id } = await create({ name: 'one', metadata: { v: 1 }, context: { tone: 'x' } });
    await patch(assistant_id, { name: 'two', metadata: { v: 2 }, context: { tone: 'y' }, graph_id: 'slow' });
    const versions = await deployment.client.assistants.getVersions(assistant_id);
    expect(versions.map(({ version, name }) => [version, name])).toEqual([
      [2, 'two'],
      [1, 'one'],
    ]);
    expect(versions[0]).not.toHaveProperty('updated_at');
    expect(await deployment.client.assistants.getVersions(assistant_id, { metadata: { v: 1 } })).toHaveLength(1);
    expect(await deployment.client.assistants.getVersions(assistant_id, { limit: 1, offset: 1 })).toMatchObject([
      { version: 1 },
    ]);
    const first = { name: 'one', version: 1, graph_id: 'echo', metadata: { v: 1 }, context: { tone: 'x' } };
    expect(await deployment.client.assistants.setLatest(assistant_id, 1)).toMatchObject(first);
    expect(await deployment.client.assistants.get(assistant_id)).toMatchObject(first);
    expect(await patch(assistant_id, {})).toMatchObject({ json: { version: 3, name: 'one' } });
  });

  it('takes the version in the query too, and refuses none, two or an unknown one', async () => {
    const { assistant_id } = await create({});
    await patch(assistant_id, { name: 'two' });
    const latest = (query: string, body?: unknown) =>
      ask(`${deployment.url}/assistants/${assistant_id}/latest${query}`, { method: 'POST', body });
    expect(await latest('?version=1')).toMatchObject({ status: 200, json: { version: 1 } });
    expect(await latest('', {})).toMatchObject({ status: 422, json: { detail: 'version is required' } });
    expect((await latest('?version=1', { version: 2 })).status).toBe(422);
    expect(await latest('', { version: 99 })).toMatchObject({
      status: 404,
      json: { detail: `Version 99 not found for assistant ${assistant_id}` },
    });
    expect((await post(`/assistants/${randomUUID()}/versions`, {})).status).toBe(404);
  });
});

describe('describing the graph of an assistant', () => {
  const get = (path: string) => ask(deployment.url + path);
  const nodes = (drawing: { nodes: { id: string | number }[] }) => drawing.nodes.map(({ id }) => id);

  it('draws it, with the graphs inside as deep as asked', async () => {
    const { assistants } = deployment.client;
    expect(nodes(await assistants.getGraph('assembly'))).toEqual(['__start__', 'outer', '__end__']);
    const id = (await assistants.get('assembly')).assistant_id;
    expect(nodes(await assistants.getGraph(id, { xray: 1 }))).toContain('outer:inner');
    expect(nodes(await assistants.getGraph(id, { xray: true }))).toContain('outer:inner:drill');
    for (const xray of ['0', '-1', '1.5', 'deep', '']) {
      expect(await get(`/assistants/assembly/graph?xray=${xray}`)).toMatchObject({
        status: 422,
        json: { detail: 'Invalid xray value' },
      });
    }
  });

  it('returns its schemas, from the graph itself or its source', async () => {
    const { assistants } = deployment.client;
    const { assistant_id } = await assistants.create({ graphId: 'assembly' });
    expect(await assistants.getSchemas(assistant_id)).toMatchObject({
      graph_id: 'assembly',
      state_schema: { properties: { screws: { type: 'number', description: 'How many were turned.' } } },
      context_schema: { properties: { pace: { enum: ['slow', 'fast'] } } },
    });
    expect(await assistants.getSchemas('echo')).toMatchObject({
      graph_id: 'echo',
      input_schema: { properties: { messages: { type: 'array' } } },
      config_schema: null,
    });
  });

  it('returns its subgraphs, all of them or those of a namespace', async () => {
    const { assistants } = deployment.client;
    expect(Object.keys(await assistants.getSubgraphs('assembly'))).toEqual(['outer']);
    expect(Object.keys(await assistants.getSubgraphs('assembly', { recurse: true }))).toEqual(['outer', 'outer|inner']);
    expect(Object.keys(await assistants.getSubgraphs('assembly', { namespace: 'outer' }))).toEqual(['outer']);
    const deep = await assistants.getSubgraphs('assembly', { namespace: 'outer|inner', recurse: true });
    expect(deep).toMatchObject({ 'outer|inner': { input_schema: { properties: { screws: { type: 'number' } } } } });
    expect(await assistants.getSubgraphs('assembly', { namespace: 'nowhere' })).toEqual({});
  });

  it('answers 404 for an assistant that does not exist', async () => {
    for (const look of ['graph', 'schemas', 'subgraphs', 'subgraphs/outer'])
      expect((await get(`/assistants/${randomUUID()}/${look}`)).status).toBe(404);
  });
});

describe('deleting an assistant', () => {
  const remove = (id: string, query = '') => ask(`${deployment.url}/assistants/${id}${query}`, { method: 'DELETE' });

  it('cancels its runs in flight and leaves its threads', async () => {
    const { assistants, runs, threads } = deployment.client;
    const { assistant_id } = await assistants.create({ graphId: 'echo' });
    const { thread_id } = await threads.create();
    const run = await runs.create(thread_id, assistant_id, { input: {} });
    expect(await remove(assistant_id)).toMatchObject({ status: 204, text: '' });
    expect(await remove(assistant_id)).toMatchObject({
      status: 404,
      json: { detail: `Assistant with ID ${assistant_id} not found` },
    });
    expect(await runs.get(thread_id, run.run_id)).toMatchObject({ status: 'interrupted' });
    expect((await post('/runs', { assistant_id, input: {} })).status).toBe(404);
    const left = await deployment.pool.query('SELECT 1 FROM assistant_version WHERE assistant_id = $1', [assistant_id]);
    expect(left.rowCount).toBe(0);
  });

  it('is refused for the default assistant of a graph, and its runs and crons stay', async () => {
    const { runs, crons, threads, assistants } = deployment.client;
    const { thread_id } = await threads.create({ metadata: { assistant_id: ECHO } });
    const run = await runs.create(thread_id, 'echo', { input: {}, afterSeconds: 3600 });
    const cron = await crons.create('echo', { schedule: '@yearly' });
    for (const name of ['echo', ECHO]) {
      expect(await remove(name, '?delete_threads=true')).toMatchObject({
        status: 403,
        json: { detail: "The default assistant of graph 'echo' cannot be deleted" },
      });
    }
    expect(await assistants.get(ECHO)).toMatchObject({ assistant_id: ECHO });
    expect(await runs.get(thread_id, run.run_id)).toMatchObject({ status: 'pending' });
    await crons.delete(cron.cron_id);
    await threads.delete(thread_id);
  });

  it('deletes its threads when asked, and no others', async () => {
    const { assistants, threads } = deployment.client;
    const { assistant_id } = await assistants.create({ graphId: 'echo' });
    const mine = await Promise.all([1, 2, 3].map(() => threads.create({ metadata: { assistant_id } })));
    const other = await threads.create();
    expect((await remove(assistant_id, '?delete_threads=true')).status).toBe(204);
    for (const { thread_id } of mine) expect((await ask(`${deployment.url}/threads/${thread_id}`)).status).toBe(404);
    expect(await threads.get(other.thread_id)).toMatchObject({ status: 'idle' });
  });
});

describe('searching assistants', () => {
  beforeAll(async () => {
    for (const name of ['Needle one', 'needle two', '50% needle'])
      await deployment.client.assistants.create({ graphId: 'chat', name, metadata: { kind: 'searched' } });
  });

  it('finds parts of names whatever their case, taking no wildcards', async () => {
    expect(await deployment.client.assistants.search({ name: 'NEEDLE' })).toHaveLength(3);
    expect(await deployment.client.assistants.search({ name: '%' })).toHaveLength(1);
    expect(await deployment.client.assistants.search({ name: 'needle_' })).toHaveLength(0);
  });

  it('filters by graph and metadata, sorts, selects and pages', async () => {
    const { json, headers } = await post('/assistants/search', {
      graph_id: 'chat',
      metadata: { kind: 'searched' },
      sort_by: 'name',
      sort_order: 'asc',
      select: ['name'],
      limit: 2,
    });
    expect(json).toEqual([{ name: '50% needle' }, { name: expect.stringMatching(/needle/i) }]);
    expect(headers).toMatchObject({ 'x-pagination-total': '3', 'x-pagination-next': '2' });
  });

  it('counts matches', async () => {
    expect((await post('/assistants/count', { graph_id: 'chat' })).text).toBe('4');
    expect((await post('/assistants/count', { metadata: { kind: 'searched' }, name: 'one' })).text).toBe('1');
  });
});
