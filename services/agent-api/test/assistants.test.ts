import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment?.close());

const ECHO = '046b5dc7-2108-582c-9c6c-31d556d138f0';
const post = (path: string, body: unknown) => ask(deployment.url + path, { body });

describe('the default assistant of a graph', () => {
  it('is there from the start, with the id every server gives it', async () => {
    expect(await deployment.client.assistants.get(ECHO)).toMatchObject({
      assistant_id: ECHO,
      graph_id: 'echo',
      name: 'echo',
      metadata: { created_by: 'system' },
      version: 1,
      config: {},
      context: {},
    });
  });

  it('is got by its id only', async () => {
    expect(await ask(`${deployment.url}/assistants/echo`)).toMatchObject({
      status: 422,
      json: { detail: 'Invalid assistant ID: must be a UUID' },
    });
    expect((await ask(`${deployment.url}/assistants/${randomUUID()}`)).status).toBe(404);
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

  it('refuses an id that is taken, or answers the assistant that has it', async () => {
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

  it('counts', async () => {
    expect((await post('/assistants/count', { graph_id: 'chat' })).text).toBe('4');
    expect((await post('/assistants/count', { metadata: { kind: 'searched' }, name: 'one' })).text).toBe('1');
  });
});
