import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const threads = () => deployment.client.threads;
const post = (path: string, body?: unknown) =>
  ask(deployment.url + path, { method: 'POST', ...(body ? { body } : {}) });
const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });

async function threadWith(...texts: string[]) {
  const { thread_id } = await threads().create({ graphId: 'echo', metadata: { owner: 'ada' } });
  for (const text of texts) await threads().updateState(thread_id, { values: human(text), asNode: 'echo' });
  return thread_id;
}

const ttlOf = async (threadId: string) =>
  ((await ask(`${deployment.url}/threads/${threadId}?include=ttl`)).json as { ttl?: Record<string, unknown> }).ttl;

describe('the ttl of a thread', () => {
  it('is returned only on request, and can be changed', async () => {
    const { thread_id } = await threads().create({ ttl: 90 });
    expect(await threads().get(thread_id)).not.toHaveProperty('ttl');
    const before = await ttlOf(thread_id);
    expect(before).toMatchObject({ strategy: 'delete', ttl_minutes: 90 });
    expect(Date.parse(before!.expires_at as string) - Date.now()).toBeCloseTo(90 * 60_000, -5);
    await threads().update(thread_id, { metadata: { a: 1 }, ttl: { strategy: 'keep_latest', ttl: 0.5 } as never });
    expect(await ttlOf(thread_id)).toMatchObject({ strategy: 'keep_latest', ttl_minutes: 0.5 });
    expect((await threads().get(thread_id)).metadata).toEqual({ a: 1 });
  });

  it('is absent when there is none, and refused without minutes or below zero', async () => {
    const { thread_id } = await threads().create();
    expect(await ttlOf(thread_id)).toBeUndefined();
    for (const ttl of [{ strategy: 'delete' }, { ttl: 0 }, { ttl: -1 }, { ttl: 1, strategy: 'zap' }, 5]) {
      const answer = await post('/threads', { ttl });
      expect(answer).toMatchObject({ status: 422, json: { detail: expect.stringContaining('ttl') } });
    }
  });
});

describe('a copy', () => {
  it('has the same history under a new id and goes its own way', async () => {
    const source = await threadWith('one', 'two');
    const copy = await threads().copy(source);
    expect(copy).toMatchObject({ status: 'idle', metadata: { owner: 'ada', graph_id: 'echo' } });
    expect(copy.thread_id).not.toBe(source);
    expect(copy.values).toEqual((await threads().get(source)).values);
    const [ofSource, ofCopy] = await Promise.all([source, copy.thread_id].map((id) => threads().getHistory(id)));
    expect(JSON.parse(JSON.stringify(ofCopy).replaceAll(copy.thread_id, source))).toEqual(ofSource);
    await threads().updateState(copy.thread_id, { values: human('three'), asNode: 'echo' });
    expect(await threads().getHistory(source)).toHaveLength(2);
    await threads().delete(source);
    expect(await threads().getHistory(copy.thread_id)).toHaveLength(3);
  });

  it('of a thread that does not exist is a conflict', async () => {
    expect(await post(`/threads/${randomUUID()}/copy`)).toMatchObject({
      status: 409,
      json: { detail: expect.any(String) },
    });
  });

  it('of a thread that waits for an answer waits for it too, and is found by that', async () => {
    const { thread_id: source } = await threads().create({ graphId: 'approval' });
    await deployment.client.runs.create(source, 'approval', { input: {} });
    await (await deployment.worker.take()).ask({}, [{ id: 'i1', value: 'Really?' }]);
    const copy = await threads().copy(source);
    expect(copy).toMatchObject({ status: 'interrupted', interrupts: (await threads().get(source)).interrupts });
    const found = await threads().search({ ids: [copy.thread_id], status: 'interrupted' });
    expect(found.map(({ thread_id }) => thread_id)).toEqual([copy.thread_id]);
  });

  it('of a busy thread has its last committed checkpoint and is idle', async () => {
    const source = await threadWith('one');
    await deployment.client.runs.create(source, 'echo', { input: human('two') });
    const run = await deployment.worker.take();
    // The run has committed this so far; the thread's own values are older.
    await deployment.pool.query(
      `UPDATE thread_state SET "values" = '{"messages": []}', checkpoint_id = 'before' WHERE thread_id = $1`,
      [source],
    );
    const copy = await threads().copy(source);
    expect(copy).toMatchObject({ status: 'idle', values: { messages: [{ content: 'one' }] } });
    await run.succeed({ messages: [] });
  });
});

describe('pruning', () => {
  it('deletes, or keeps the latest state, of idle threads that exist', async () => {
    const [gone, kept, busy] = [await threadWith('a'), await threadWith('a', 'b', 'c'), await threadWith('a')];
    await deployment.client.runs.create(busy, 'echo', { input: {} });
    expect(await threads().prune([gone, busy, randomUUID()])).toEqual({ pruned_count: 1 });
    expect((await ask(`${deployment.url}/threads/${gone}`)).status).toBe(404);
    expect((await threads().get(busy)).status).toBe('busy');
    const state = await threads().getState(kept);
    expect(await threads().prune([kept], { strategy: 'keep_latest' })).toEqual({ pruned_count: 1 });
    expect(await threads().getHistory(kept)).toHaveLength(1);
    expect((await threads().getState(kept)).values).toEqual(state.values);
    await threads().updateState(kept, { values: human('d'), asNode: 'echo' });
    expect((await threads().getState<{ messages: unknown[] }>(kept)).values.messages).toHaveLength(4);
  });

  it('without thread ids is refused', async () => {
    for (const body of [{}, { strategy: 'delete' }]) {
      const answer = await post('/threads/prune', body);
      expect(answer).toMatchObject({ status: 422, json: { detail: expect.stringContaining('thread_ids') } });
    }
    expect((await post('/threads/prune', { thread_ids: [] })).json).toEqual({ pruned_count: 0 });
  });
});

it('the storage of a thread is the size of its checkpoints', async () => {
  const threadId = await threadWith('one', 'two');
  const { json } = await ask(`${deployment.url}/threads/${threadId}/storage`);
  const storage = json as Record<
    'checkpoints' | 'channel_values' | 'pending_writes',
    { count: number; bytes: number }
  > & {
    total_bytes: number;
  };
  const { checkpoints, channel_values, pending_writes } = storage;
  expect(storage).toMatchObject({ thread_id: threadId, checkpoints: { count: 2 } });
  expect(channel_values).toMatchObject({ by_channel: { messages: { versions: 2, bytes: expect.any(Number) } } });
  expect(storage.total_bytes).toBe(checkpoints.bytes + channel_values.bytes + pending_writes.bytes);
  expect((await ask(`${deployment.url}/threads/${randomUUID()}/storage`)).status).toBe(404);
});

describe('supersteps', () => {
  it('take commands, and leave the thread idle', async () => {
    const { thread_id } = await threads().create({
      graphId: 'approval',
      supersteps: [
        { updates: [{ values: { request: 'fly' }, asNode: '__start__' }] },
        { updates: [{ command: { update: { log: ['by command'] } }, values: null, asNode: 'prepare' }] },
      ],
    });
    const thread = await threads().get(thread_id);
    expect(thread).toMatchObject({ status: 'idle', values: { request: 'fly', log: ['by command'] } });
    expect((await threads().getState(thread_id)).next).toEqual(['ask']);
  });

  it('that fail name the step and the node, and leave nothing', async () => {
    const thread_id = randomUUID();
    const steps = [
      { updates: [{ values: { request: 'fly' }, as_node: '__input__' }] },
      { updates: [{ values: {}, as_node: 'zap' }] },
    ];
    expect(await post('/threads', { thread_id, graph_id: 'approval', supersteps: steps })).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining('zap'), metadata: { thread_id, superstep: 1, as_node: 'zap' } },
    });
    const wrong = [{ updates: [{ values: { messages: [{ type: 'zap', content: 'x' }] }, as_node: 'echo' }] }];
    expect(await post('/threads', { thread_id, graph_id: 'echo', supersteps: wrong })).toMatchObject({
      status: 422,
      json: { detail: expect.any(String), metadata: { thread_id, superstep: 0, as_node: 'echo' } },
    });
    expect(await post('/threads', { thread_id, graph_id: 'nowhere', supersteps: wrong })).toMatchObject({
      status: 400,
    });
    expect((await ask(`${deployment.url}/threads/${thread_id}`)).status).toBe(404);
    for (const table of ['checkpoint', 'thread_fence']) {
      const { rowCount } = await deployment.pool.query(`SELECT 1 FROM ${table} WHERE thread_id = $1`, [thread_id]);
      expect(rowCount).toBe(0);
    }
  });
});

describe('a state', () => {
  it('has only its selected fields', async () => {
    const threadId = await threadWith('one');
    const url = `${deployment.url}/threads/${threadId}`;
    expect((await ask(`${url}/state?select=next&select=created_at`)).json).toEqual({
      next: [],
      created_at: expect.stringMatching(/\.\d{6}\+00:00$/),
    });
    expect((await ask(`${url}/state?select=values.messages`)).json).toEqual({
      values: { messages: [expect.objectContaining({ content: 'one' })] },
    });
    expect((await post(`/threads/${threadId}/history`, { select: ['next'] })).json).toEqual([{ next: [] }]);
    expect((await ask(`${url}/state?select=zap`)).status).toBe(422);
  });

  it('is not found under another thread', async () => {
    const threadId = await threadWith('one');
    const checkpoint = { thread_id: randomUUID() };
    expect((await post(`/threads/${threadId}/state/checkpoint`, { checkpoint })).status).toBe(422);
  });
});

describe('a deployment whose threads have a ttl', () => {
  let brief: TestDeployment;
  beforeAll(async () => {
    brief = await startDeployment({
      env: {
        LANGGRAPH_CHECKPOINTER: JSON.stringify({
          ttl: { strategy: 'keep_latest', default_ttl: 1000, sweep_interval_minutes: 0.002, sweep_limit: 10 },
        }),
      },
    });
  });
  afterAll(() => brief?.close());

  const goneSoon = (threadId: string) =>
    expect.poll(async () => (await ask(`${brief.url}/threads/${threadId}`)).status).toBe(404);

  it('gives it to all threads created from then on, also by runs', async () => {
    const made = await brief.client.threads.create();
    const byRun = randomUUID();
    await brief.client.runs.create(byRun, 'echo', { input: {}, ifNotExists: 'create' });
    for (const id of [made.thread_id, byRun]) {
      const { json } = await ask(`${brief.url}/threads/${id}?include=ttl`);
      expect(json).toMatchObject({ ttl: { strategy: 'keep_latest', ttl_minutes: 1000 } });
    }
    const { json } = await ask(`${brief.url}/threads`, { body: { ttl: { strategy: 'delete' } } });
    const { thread_id } = json as { thread_id: string };
    const shown = await ask(`${brief.url}/threads/${thread_id}?include=ttl`);
    expect(shown.json).toMatchObject({ ttl: { strategy: 'delete', ttl_minutes: 1000 } });
    await (await brief.worker.take()).succeed({});
  });

  it('deletes expired threads with all that is theirs, as a deletion does, and never a busy one', async () => {
    const { thread_id: idle } = await brief.client.threads.create({ ttl: 0.001 });
    const { thread_id: busy } = await brief.client.threads.create();
    await brief.client.runs.create(busy, 'echo', { input: {} });
    const run = await brief.worker.take();
    // Its time is over only once it is busy: an idle one may be gone before its run comes.
    await brief.client.threads.update(busy, { ttl: 0.001 });
    await goneSoon(idle);
    expect((await brief.client.threads.get(busy)).status).toBe('busy');
    await run.succeed({});
    await goneSoon(busy);
    for (const table of ['run', 'thread_fence', 'thread_state']) {
      const { rowCount } = await brief.pool.query(`SELECT 1 FROM ${table} WHERE thread_id = ANY($1)`, [[idle, busy]]);
      expect(rowCount).toBe(0);
    }
  });

  it('keeps the newest state where only the history expires', async () => {
    const { thread_id } = await brief.client.threads.create({
      graphId: 'echo',
      ttl: { strategy: 'keep_latest', ttl: 0.02 } as never,
    });
    for (const text of ['one', 'two']) {
      await brief.client.threads.updateState(thread_id, { values: human(text), asNode: 'echo' });
    }
    await expect.poll(() => brief.client.threads.getHistory(thread_id)).toHaveLength(1);
    const { ttl } = (await ask(`${brief.url}/threads/${thread_id}?include=ttl`)).json as { ttl: object };
    expect(ttl).toEqual({ strategy: 'keep_latest', ttl_minutes: 0.02 });
    const { values } = await brief.client.threads.get(thread_id);
    expect(values).toMatchObject({ messages: [{ content: 'one' }, { content: 'two' }] });
  });
});
