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
const runs = () => deployment.client.runs;

async function newThread(): Promise<string> {
  return (await deployment.client.threads.create()).thread_id;
}

describe('creating a run', () => {
  it('returns it pending, with its arguments and its location', async () => {
    const thread_id = await newThread();
    const { json, headers } = await post(`/threads/${thread_id}/runs`, {
      assistant_id: 'echo',
      input: { n: 1 },
      metadata: { owner: 'ada', created_by: 'me' },
    });
    const run = json as { run_id: string };
    expect(headers['content-location']).toBe(`/threads/${thread_id}/runs/${run.run_id}`);
    expect(run).toMatchObject({
      thread_id,
      assistant_id: ECHO,
      status: 'pending',
      multitask_strategy: 'enqueue',
      metadata: { created_by: 'system', graph_id: 'echo', assistant_id: ECHO, owner: 'ada' },
      kwargs: {
        input: { n: 1 },
        stream_mode: ['values'],
        durability: 'async',
        temporary: false,
        resumable: false,
        subgraphs: false,
        config: { configurable: { thread_id, run_id: run.run_id, graph_id: 'echo', assistant_id: ECHO } },
      },
    });
  });

  it('makes the ids time-ordered', async () => {
    const { run_id } = await runs().create(null, 'echo', { input: {} });
    expect(run_id[14]).toBe('7');
  });

  it('without a thread locates it by its own id, and makes it temporary unless kept', async () => {
    const { json, headers } = await post('/runs', { assistant_id: 'echo', input: {} });
    const run = json as { run_id: string; thread_id: string };
    expect(headers['content-location']).toBe(`/runs/${run.run_id}`);
    expect(run).toMatchObject({ kwargs: { temporary: true, config: { configurable: { thread_id: run.thread_id } } } });
    expect((await ask(`${deployment.url}/threads/${run.thread_id}`)).status).toBe(404);
    const kept = (await post('/runs', { assistant_id: 'echo', input: {}, on_completion: 'keep' })).json as typeof run;
    expect(kept).toMatchObject({ kwargs: { temporary: false } });
    expect((await deployment.client.threads.get(kept.thread_id)).status).toBe('busy');
  });

  it('refuses unknown fields and values', async () => {
    const thread_id = await newThread();
    const create = (body: object) => post(`/threads/${thread_id}/runs`, { assistant_id: 'echo', input: {}, ...body });
    expect(await create({ assistant_id: 'nope' })).toMatchObject({
      status: 422,
      json: {
        detail: expect.stringMatching(
          /^Invalid assistant: 'nope'. Must be either:\n- A valid assistant UUID, or\n- One of the registered graphs: .*echo/,
        ),
      },
    });
    const missing = { status: 404, json: { detail: 'Thread or assistant not found.' } };
    expect(await create({ assistant_id: randomUUID() })).toMatchObject(missing);
    expect(await post(`/threads/${randomUUID()}/runs`, { assistant_id: 'echo' })).toMatchObject(missing);
    expect((await create({ stream_mode: 'zap' })).status).toBe(422);
    expect(await create({ checkpoint: { thread_id: randomUUID() } })).toMatchObject({
      status: 422,
      json: { detail: expect.stringContaining('checkpoint.thread_id') },
    });
    expect((await create({ context: { a: 1 }, config: { configurable: { b: 1 } } })).status).toBe(400);
    expect(await ask(`${deployment.url}/threads/${thread_id}/runs`, { method: 'POST' })).toMatchObject({
      status: 422,
      json: { detail: 'Invalid JSON in request body' },
    });
  });

  it('creates the thread on request', async () => {
    for (const field of ['if_not_exists', 'on_not_exist']) {
      const thread_id = randomUUID();
      const { status } = await post(`/threads/${thread_id}/runs`, {
        assistant_id: 'echo',
        input: {},
        [field]: 'create',
      });
      expect(status).toBe(200);
      expect((await deployment.client.threads.get(thread_id)).status).toBe('busy');
    }
  });

  it('takes U+0000 in input', async () => {
    const { json } = await post('/runs', {
      assistant_id: 'echo',
      input: { text: 'a\u0000b' },
      metadata: { m: '\u0000' },
    });
    expect(json).toMatchObject({ kwargs: { input: { text: 'a\u0000b' } } });
    const { run_id } = json as { run_id: string };
    expect((await ask(`${deployment.url}/runs/${run_id}`)).json).toMatchObject({
      kwargs: { input: { text: 'a\u0000b' } },
    });
  });

  it('delays one that is to start later', async () => {
    const { run_id } = await runs().create(null, 'echo', { input: {}, afterSeconds: 3600 });
    expect((await ask(`${deployment.url}/runs/${run_id}`)).json).toMatchObject({
      status: 'pending',
      kwargs: { config: { configurable: { __after_seconds__: 3600 } } },
    });
    await deployment.client.runs.cancelMany({ status: 'all' });
    expect(await deployment.worker.engine.claimRuns(randomUUID(), 1)).toEqual([]);
  });

  it('takes several at once, in order, or none', async () => {
    const answer = await post('/runs/batch', [
      { assistant_id: 'echo', input: { n: 1 } },
      { assistant_id: 'chat', input: { n: 2 } },
    ]);
    expect(answer.json).toMatchObject([{ kwargs: { input: { n: 1 } } }, { kwargs: { input: { n: 2 } } }]);
    const before = await deployment.worker.engine.readQueueStatistics();
    expect((await post('/runs/batch', [{ assistant_id: 'echo' }, { assistant_id: 'nope' }])).status).toBe(422);
    expect((await post('/runs/batch', [])).status).toBe(422);
    expect((await post('/runs/batch', Array(5_001).fill({ assistant_id: 'echo' }))).status).toBe(422);
    expect((await deployment.worker.engine.readQueueStatistics()).pendingRuns).toBe(before.pendingRuns);
    await deployment.client.runs.cancelMany({ status: 'all' });
  });
});

describe('several runs on one thread', () => {
  it('wait for each other under enqueue, in the order they came', async () => {
    const thread_id = await newThread();
    const created = [];
    for (let n = 0; n < 3; n++) created.push((await runs().create(thread_id, 'echo', { input: { n } })).run_id);
    for (const expected of created) {
      const run = await deployment.worker.take();
      expect(run.claimed.runId).toBe(expected);
      await run.succeed({});
    }
  });

  it('are refused under reject', async () => {
    const thread_id = await newThread();
    await runs().create(thread_id, 'echo', { input: {} });
    expect(
      await post(`/threads/${thread_id}/runs`, { assistant_id: 'echo', multitask_strategy: 'reject' }),
    ).toMatchObject({
      status: 409,
      json: {
        detail: 'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.',
      },
    });
    await runs().cancelMany({ status: 'all' });
  });

  it('are ended for the new one under interrupt and rollback', async () => {
    for (const [strategy, left] of [
      ['interrupt', 200],
      ['rollback', 404],
    ] as const) {
      const thread_id = await newThread();
      const { run_id } = await runs().create(thread_id, 'echo', { input: {} });
      const first = await deployment.worker.take();
      const next = await runs().create(thread_id, 'echo', { input: {}, multitaskStrategy: strategy });
      expect(await deployment.worker.order(first)).toMatchObject({ action: strategy });
      await first.interrupt({});
      expect((await ask(`${deployment.url}/threads/${thread_id}/runs/${run_id}`)).status).toBe(left);
      const second = await deployment.worker.take();
      expect(second.claimed.runId).toBe(next.run_id);
      await second.succeed({});
    }
  });
});

describe('listing runs', () => {
  it('returns the newest first, by status, page and field', async () => {
    const thread_id = await newThread();
    const created: string[] = [];
    for (let n = 0; n < 3; n++) created.push((await runs().create(thread_id, 'echo', { input: {} })).run_id);
    const list = async (query: string) =>
      (await ask(`${deployment.url}/threads/${thread_id}/runs${query}`)).json as { run_id: string }[];
    expect((await list('')).map(({ run_id }) => run_id)).toEqual([...created].reverse());
    expect((await list('?limit=1&offset=1')).map(({ run_id }) => run_id)).toEqual([created[1]]);
    expect(await list('?limit=0')).toEqual([]);
    expect(await list('?status=success')).toEqual([]);
    expect(await list('?status=unheard-of')).toEqual([]);
    expect(await list('?limit=1&select=run_id&select=status')).toEqual([{ run_id: created[2], status: 'pending' }]);
    expect((await ask(`${deployment.url}/threads/${thread_id}/runs?select=zap`)).status).toBe(422);
    expect((await ask(`${deployment.url}/threads/${thread_id}/runs?limit=x`)).status).toBe(422);
    expect((await ask(`${deployment.url}/threads/${randomUUID()}/runs`)).status).toBe(404);
    await runs().cancelMany({ status: 'all' });
  });
});

describe('a list of runs', () => {
  it('is refused where it is too large, and says what to select', async () => {
    const thread_id = await newThread();
    await deployment.pool.query(
      `INSERT INTO run (run_id, thread_id, assistant_id, kwargs, keeps_thread, status, ended_at)
       SELECT gen_random_uuid(), $1, $2, convert_to('{"input":"' || repeat('x', 12000000) || '"}', 'UTF8'), true, 'success', now()
       FROM generate_series(1, 3)`,
      [thread_id, ECHO],
    );
    const list = (query: string) => ask(`${deployment.url}/threads/${thread_id}/runs?${query}`);
    const refused = await list('limit=2147483647');
    expect(refused).toMatchObject({ status: 413, json: { detail: expect.stringContaining('select') } });
    expect((await list('limit=2')).json).toMatchObject(
      [1, 2].map(() => ({ kwargs: { input: expect.stringMatching(/^x/) } })),
    );
    expect((await list('limit=3&select=run_id&select=status')).json).toMatchObject(
      [1, 2, 3].map(() => ({ run_id: expect.any(String), status: 'success' })),
    );
  });
});
