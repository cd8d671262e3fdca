import { waitFor } from '@runyard/test-kit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await startDeployment({ env: { DATABASE_POOL_TIMEOUT_SECONDS: '2' } });
});
afterAll(() => deployment?.close());

const body = { assistant_id: 'echo', input: {} };

describe('while Redis is away', () => {
  beforeAll(() => deployment.lines.redis.refuse());

  it('says that it is not ready, and which part is missing', async () => {
    expect((await ask(`${deployment.url}/ok`)).status).toBe(200);
    expect(await ask(`${deployment.url}/ok?check_db=1`)).toMatchObject({
      status: 503,
      json: { detail: 'Not available: redis' },
    });
  });

  it('accepts runs, and answers who waits from the database', async () => {
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    const run = await deployment.worker.take();
    await run.succeed({ n: 1 });
    expect((await answer.complete).trim()).toBe('{"n":1}');
  }, 20_000);

  it('cancels runs: the order is durable without it', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const { run_id } = await deployment.client.runs.create(thread_id, 'echo', { input: {} });
    expect((await ask(`${deployment.url}/threads/${thread_id}/runs/${run_id}/cancel`, { method: 'POST' })).status).toBe(
      202,
    );
    expect((await deployment.client.runs.get(thread_id, run_id)).status).toBe('interrupted');
  }, 20_000);

  it('goes on with an open stream once it is back, missing nothing that is kept', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body: { ...body, stream_resumable: true } });
    const run = await deployment.worker.take();
    await run.emit('values', { n: 1 });
    await deployment.lines.redis.heal();
    await answer.until('{"n":1}', 15_000);
    await run.emit('values', { n: 2 });
    await run.succeed({});
    const text = await answer.complete;
    expect([...text.matchAll(/data: \{"n":(\d)\}/g)].map(([, n]) => n)).toEqual(['1', '2']);
    await waitFor(async () => (await ask(`${deployment.url}/ok?check_db=1`)).status === 200);
  }, 30_000);
});

/** Each part that asks the database in its own way: prepared statements, transactions in common, Prisma and its transactions. */
const askingTheDatabase = () => [
  ask(`${deployment.url}/runs/wait`, { body }),
  ask(`${deployment.url}/runs/batch`, { body: [body, body] }),
  ask(`${deployment.url}/threads`, { body: {} }),
  ask(`${deployment.url}/threads/search`, { body: {} }),
  ask(`${deployment.url}/assistants/search`, { body: {} }),
  ask(`${deployment.url}/assistants`, { body: { graph_id: 'echo' } }),
  ask(`${deployment.url}/runs/crons`, { body: { assistant_id: 'echo', schedule: '* * * * *' } }),
  ask(`${deployment.url}/store/items?namespace=a&key=k`),
  ask(`${deployment.url}/store/items`, { method: 'PUT', body: { namespace: ['a'], key: 'k', value: {} } }),
];

const expectOutages = async (asked: ReturnType<typeof askingTheDatabase>) => {
  for (const answer of await Promise.all(asked)) {
    expect(answer).toMatchObject({ status: 503, json: { detail: 'The database is not available' } });
    expect(answer.headers['retry-after']).toBe('1');
  }
};

describe('while Postgres is away', () => {
  beforeAll(() => deployment.lines.postgres.refuse());

  it('answers 503 and when to come back, whichever part asked the database', async () => {
    await expectOutages(askingTheDatabase());
  });

  it('is alive, not ready, and still reports its metrics', async () => {
    expect((await ask(`${deployment.url}/ok`)).status).toBe(200);
    expect((await ask(`${deployment.url}/ok?check_db=1`)).json).toEqual({ detail: 'Not available: database' });
    const { status, text } = await ask(`${deployment.url}/metrics`);
    expect(status).toBe(200);
    expect(text).toContain('lg_api_http_requests_total');
    expect(text).not.toMatch(/^lg_api_num_pending_runs/m);
    expect((await ask(`${deployment.url}/metrics?format=json`)).json).toMatchObject({
      queue: null,
      api: { http_requests_total: expect.arrayContaining([]) },
    });
  });

  it('works again once it is back', async () => {
    await deployment.lines.postgres.heal();
    await waitFor(async () => (await ask(`${deployment.url}/threads/count`, { body: {} })).status === 200);
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    const run = await deployment.worker.take();
    await run.succeed({ n: 1 });
    expect(await answer.complete).toBe('{"n":1}');
  }, 20_000);
});

describe('in a black hole between the service and its servers', () => {
  afterEach(() => Promise.all([deployment.lines.postgres.heal(), deployment.lines.redis.heal()]));

  it('says within the time limits that the database is not available, and works at once when it is back', async () => {
    const { thread_id } = await deployment.client.threads.create();
    deployment.lines.postgres.swallow();
    const startedAt = performance.now();
    await expectOutages([...askingTheDatabase(), ask(`${deployment.url}/threads/${thread_id}/state`)]);
    // A connection that is waited for, and a statement whose silence is noticed.
    expect(performance.now() - startedAt).toBeLessThan(12_000);
    await deployment.lines.postgres.heal();
    await waitFor(async () => (await ask(`${deployment.url}/threads/${thread_id}/state`)).status === 200, {
      timeoutMs: 10_000,
    });
  }, 60_000);

  it('takes, tells and cancels runs within the time limits while Redis is silent', async () => {
    deployment.lines.redis.swallow();
    const { thread_id } = await deployment.client.threads.create();
    const startedAt = performance.now();
    const { run_id } = await deployment.client.runs.create(thread_id, 'echo', { input: {}, afterSeconds: 60 });
    const cancelled = await ask(`${deployment.url}/threads/${thread_id}/runs/${run_id}/cancel`, { method: 'POST' });
    const deleted = await ask(`${deployment.url}/threads/${thread_id}`, { method: 'DELETE' });
    expect([cancelled.status, deleted.status]).toEqual([202, 204]);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  }, 30_000);
});
