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

const threads = () => deployment.client.threads;
const post = (path: string, body: unknown) => ask(deployment.url + path, { body });

describe('creating a thread', () => {
  it('returns it idle, with metadata and null values', async () => {
    const { json, status } = await post('/threads', {});
    expect(status).toBe(200);
    expect(json).toMatchObject({ status: 'idle', metadata: {}, config: {}, values: null });
    expect(json).not.toHaveProperty('ttl');
    const { created_at } = json as { created_at: string };
    expect(created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
  });

  it('keeps graph_id in metadata and silently drops reserved keys', async () => {
    const { json } = await post('/threads', {
      graph_id: 'echo',
      metadata: { owner: 'ada', created_by: 'me', langgraph_x: 1, svc_y: 1, __z: 1, run_id: 'r' },
    });
    expect(json).toMatchObject({ metadata: { graph_id: 'echo', owner: 'ada' } });
    expect(Object.keys((json as { metadata: object }).metadata)).toHaveLength(2);
  });

  it('by an id in capital letters is that of the same id in small ones, for its runs too', async () => {
    const thread_id = randomUUID();
    const capital = thread_id.toUpperCase();
    expect(await post('/threads', { thread_id: capital })).toMatchObject({ status: 200, json: { thread_id } });
    expect(await post('/threads', { thread_id })).toMatchObject({ status: 409 });
    expect(await threads().get(capital)).toMatchObject({ thread_id });
    expect(await post(`/threads/${capital}/runs`, { assistant_id: 'echo' })).toMatchObject({
      status: 200,
      json: { thread_id },
    });
    expect(await deployment.client.runs.list(capital)).toHaveLength(1);
    await threads().delete(capital);
    await expect(threads().get(thread_id)).rejects.toThrow('404');
  });

  it('refuses an id that is taken, or returns the thread that has it', async () => {
    const thread_id = randomUUID();
    await post('/threads', { thread_id, metadata: { first: true } });
    expect(await post('/threads', { thread_id })).toMatchObject({
      status: 409,
      json: { detail: `Thread with ID ${thread_id} already exists` },
    });
    expect(await post('/threads', { thread_id, if_exists: 'do_nothing', metadata: { second: true } })).toMatchObject({
      status: 200,
      json: { metadata: { first: true } },
    });
  });

  it('takes U+0000 in metadata', async () => {
    const { json } = await post('/threads', { metadata: { text: 'a\u0000b' } });
    expect(json).toMatchObject({ metadata: { text: 'a\ufffdb' } });
  });

  it('refuses an id that is no UUID', async () => {
    expect((await post('/threads', { thread_id: 'nope' })).status).toBe(422);
    expect(await ask(`${deployment.url}/threads/nope`)).toMatchObject({
      status: 422,
      json: { detail: 'Invalid thread ID: must be a UUID' },
    });
  });

  it('applies supersteps in order, or leaves nothing', async () => {
    const message = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });
    const { json } = await post('/threads', {
      graph_id: 'echo',
      supersteps: [
        { updates: [{ values: message('one'), as_node: '__input__' }] },
        { updates: [{ values: message('two'), as_node: '__start__' }] },
        { updates: [{ values: message('three'), as_node: 'echo' }] },
      ],
    });
    const { thread_id, values, status } = json as {
      thread_id: string;
      values: { messages: { content: string }[] };
      status: string;
    };
    expect(status).toBe('idle');
    expect(values.messages.map(({ content }) => content).slice(-2)).toEqual(['two', 'three']);
    expect(await threads().getHistory(thread_id, { limit: 10 })).toHaveLength(3);
    for (const [body, status] of [
      [{ graph_id: 'echo', supersteps: [{ updates: [{ values: {}, as_node: 'zap' }] }] }, 400],
      [{ supersteps: [{ updates: [{ values: {}, as_node: 'echo' }] }] }, 400],
    ] as const) {
      const failing = randomUUID();
      const answer = await post('/threads', { ...body, thread_id: failing });
      expect(answer.status).toBe(status);
      const { as_node } = body.supersteps[0].updates[0];
      const named = 'graph_id' in body ? as_node : null;
      expect((answer.json as { metadata: unknown }).metadata).toEqual({
        thread_id: failing,
        superstep: 0,
        as_node: named,
      });
      expect((await ask(`${deployment.url}/threads/${failing}`)).status).toBe(404);
    }
  });
});

describe('a thread', () => {
  it('that is missing is 404', async () => {
    const id = randomUUID();
    for (const method of ['GET', 'DELETE'])
      expect(await ask(`${deployment.url}/threads/${id}`, { method })).toMatchObject({
        status: 404,
        json: { detail: `Thread with ID ${id} not found` },
      });
    expect((await ask(`${deployment.url}/threads/${id}`, { method: 'PATCH', body: {} })).status).toBe(404);
  });

  it('merges metadata shallowly; null stays as null', async () => {
    const { thread_id } = await threads().create({ metadata: { a: 1, nested: { x: 1 } } });
    const patched = await threads().update(thread_id, { metadata: { a: null, nested: { y: 2 } } as never });
    expect(patched.metadata).toEqual({ a: null, nested: { y: 2 } });
  });

  it('answers a patch with no content on request', async () => {
    const { thread_id } = await threads().create();
    const answer = await ask(`${deployment.url}/threads/${thread_id}`, {
      method: 'PATCH',
      body: { metadata: { a: 1 } },
      headers: { prefer: 'return=minimal' },
    });
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect((await threads().get(thread_id)).metadata).toEqual({ a: 1 });
  });

  it('can be deleted, also while a run is in flight', async () => {
    const { thread_id } = await threads().create();
    await deployment.client.runs.create(thread_id, 'echo', { input: {} });
    const run = await deployment.worker.take();
    expect((await ask(`${deployment.url}/threads/${thread_id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await ask(`${deployment.url}/threads/${thread_id}`)).status).toBe(404);
    await expect(run.finishUnpublished('success', {}, null)).rejects.toThrow();
  });

  it('shows the values of its last run with complete messages, and moves state_updated_at only then', async () => {
    const { thread_id } = await threads().create();
    const before = await threads().get(thread_id);
    await deployment.client.runs.create(thread_id, 'echo', { input: {} });
    const run = await deployment.worker.take();
    expect(await threads().get(thread_id)).toMatchObject({
      status: 'busy',
      state_updated_at: before.state_updated_at,
      metadata: { graph_id: 'echo', assistant_id: run.claimed.assistantId },
    });
    const message = { type: 'ai', content: 'hi', id: 'm', additional_kwargs: {}, response_metadata: {} };
    await run.succeed({ messages: [message], __interrupt__: [] });
    const after = await threads().get(thread_id);
    expect(after).toMatchObject({ status: 'idle', config: {}, interrupts: {} });
    expect(after.values).toEqual({
      messages: [
        {
          ...message,
          name: null,
          example: false,
          tool_calls: [],
          invalid_tool_calls: [],
          usage_metadata: null,
        },
      ],
    });
  });
});

it('a page of a search ends before its states are too much for memory, and says where the next one begins', async () => {
  const kind = randomUUID();
  const search = async (body: object) => {
    const { json, headers } = await post('/threads/search', { metadata: { kind }, sort_by: 'created_at', ...body });
    return { sizes: (json as { values?: object }[]).map(({ values }) => JSON.stringify(values)?.length), headers };
  };
  for (const megabytes of [0, 15, 40, 15, 15]) {
    const { thread_id } = await threads().create({ metadata: { kind } });
    await deployment.pool.query(
      `INSERT INTO thread_state (thread_id, "values") VALUES ($1, convert_to('{"x":"' || repeat('x', $2) || '"}', 'UTF8'))`,
      [thread_id, megabytes * 1_000_000],
    );
  }
  const [small, medium, large] = [8, 15_000_008, 40_000_008];
  const first = await search({});
  expect(first.sizes).toEqual([medium, medium]);
  expect(first.headers).toMatchObject({ 'x-pagination-next': '2', 'x-pagination-total': '5' });
  // A state that is larger than a page may be is there alone.
  const second = await search({ offset: 2 });
  expect([second.sizes, second.headers['x-pagination-next']]).toEqual([[large], '3']);
  const last = await search({ offset: 3 });
  expect([last.sizes, last.headers['x-pagination-next']]).toEqual([[medium, small], undefined]);
  const { sizes, headers } = await search({ select: ['thread_id'] });
  expect([sizes.length, headers['x-pagination-next']]).toEqual([5, undefined]);
});

describe('searching threads', () => {
  const ids: string[] = [];
  beforeAll(async () => {
    for (let n = 0; n < 5; n++) {
      const { thread_id } = await threads().create({ metadata: { kind: 'searched', n, odd: n % 2 === 1 } });
      ids.push(thread_id);
    }
    await post(`/threads/${ids[0]}/state`, {}); // No graph yet: this is refused, and nothing changes.
    await threads().update(ids[1]!, { metadata: { graph_id: 'echo' } });
    await threads().updateState(ids[1]!, {
      values: { messages: [{ type: 'human', content: 'needle\u0000\ud800' }] },
      asNode: 'echo',
    });
  });

  const search = async (body: object) => {
    const answer = await post('/threads/search', { metadata: { kind: 'searched' }, ...body });
    return { ...answer, ids: (answer.json as { thread_id: string }[]).map(({ thread_id }) => thread_id) };
  };

  it('returns the most recently updated first', async () => {
    expect((await search({})).ids).toEqual([ids[1], ids[4], ids[3], ids[2], ids[0]]);
    expect((await search({ sort_by: 'created_at', sort_order: 'asc' })).ids).toEqual(ids);
  });

  it('returns pages, with the exact total', async () => {
    const first = await search({ limit: 2 });
    expect(first.headers).toMatchObject({ 'x-pagination-total': '5', 'x-pagination-next': '2' });
    const last = await search({ limit: 2, offset: 4 });
    expect(last.headers['x-pagination-total']).toBe('5');
    expect(last.headers).not.toHaveProperty('x-pagination-next');
    expect((await search({ offset: 1000 })).headers['x-pagination-total']).toBe('5');
  });

  it('filters by metadata, ids, status and time of state', async () => {
    expect(
      (await search({ metadata: { kind: 'searched', odd: true }, sort_by: 'created_at', sort_order: 'asc' })).ids,
    ).toEqual([ids[1], ids[3]]);
    expect((await search({ ids: [ids[2], ids[3]], sort_by: 'created_at' })).ids).toEqual([ids[3], ids[2]]);
    expect((await search({ status: 'busy' })).ids).toEqual([]);
    const { state_updated_at } = await threads().get(ids[4]!);
    // Times are compared to the microsecond: neither the thread whose time it is, nor a later one is left out.
    expect((await search({ state_updated_after: state_updated_at })).ids).toEqual([ids[1]]);
    expect((await search({ state_updated_before: state_updated_at, sort_by: 'state_updated_at' })).ids).toEqual([
      ids[3],
      ids[2],
      ids[0],
    ]);
  });

  it('leaves out threads whose metadata contain all of what is excluded', async () => {
    const inOrder = { sort_by: 'created_at', sort_order: 'asc' };
    expect((await search({ exclude_metadata: { odd: true }, ...inOrder })).ids).toEqual([ids[0], ids[2], ids[4]]);
    expect((await search({ exclude_metadata: { odd: true, n: 1 }, limit: 1 })).headers).toMatchObject({
      'x-pagination-total': '4',
    });
    const alone = { metadata: {}, exclude_metadata: { odd: true }, ids, ...inOrder };
    expect((await search(alone)).ids).toEqual([ids[0], ids[2], ids[4]]);
    expect((await search({ exclude_metadata: {} })).ids).toHaveLength(5);
    const count = async (body: object) =>
      (await post('/threads/count', { metadata: { kind: 'searched' }, ...body })).text;
    expect(await count({ exclude_metadata: { odd: true } })).toBe('3');
    expect((await post('/threads/search', { exclude_metadata: 1 })).status).toBe(422);
  });

  it('takes an empty list of ids for none', async () => {
    const { ids: found, headers } = await search({ ids: [], limit: 2 });
    expect([found.length, headers['x-pagination-total']]).toEqual([2, '5']);
  });

  it('filters by values, also next to characters that Postgres does not take', async () => {
    expect((await search({ values: { messages: [{ type: 'human' }] } })).ids).toEqual([ids[1]]);
  });

  it('returns selected fields alone, and what paths extract', async () => {
    const { json } = await search({
      ids: [ids[1]],
      select: ['thread_id', 'status'],
      extract: { last: 'values.messages[-1].type' },
    });
    expect(json).toEqual([{ thread_id: ids[1], status: 'idle', extracted: { last: 'human' } }]);
    expect((await search({ extract: { bad: 'secrets.x' } }).catch(() => ({ status: 422 }))).status).toBe(422);
  });

  it('counts matches', async () => {
    expect((await post('/threads/count', { metadata: { kind: 'searched' } })).text).toBe('5');
    expect(await threads().count({ metadata: { kind: 'nothing' } })).toBe(0);
  });

  it('refuses limits out of range', async () => {
    expect((await post('/threads/search', { limit: 0 })).status).toBe(422);
    expect((await post('/threads/search', { limit: 1001 })).status).toBe(422);
  });
});
