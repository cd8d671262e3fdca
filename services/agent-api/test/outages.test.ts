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

describe('while another transaction locks a row, the service', () => {
  it('refuses its changes with 503, and changes nothing', async () => {
    const { client, pool, url } = deployment;
    const { thread_id } = await client.threads.create({ metadata: { n: 1 } });
    const { assistant_id } = await client.assistants.create({ graphId: 'echo' });
    const cron = await client.crons.create('echo', { schedule: '0 0 1 1 *', input: {} });
    const { cron_id } = cron as unknown as { cron_id: string };
    const holder = await pool.connect();
    await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    await holder.query('SELECT 1 FROM thread WHERE thread_id = $1 FOR UPDATE', [thread_id]);
    await holder.query('SELECT 1 FROM assistant WHERE assistant_id = $1 FOR UPDATE', [assistant_id]);
    await holder.query('SELECT 1 FROM cron WHERE cron_id = $1 FOR UPDATE', [cron_id]);
    const thread = `${url}/threads/${thread_id}`;
    const metadata = { n: 2 };
    const answers = await Promise.all([
      ask(thread, { method: 'PATCH', body: { metadata } }),
      ask(thread, { method: 'DELETE' }),
      ask(`${thread}/runs/crons`, { body: { assistant_id: 'echo', schedule: '0 0 1 1 *' } }),
      ask(`${url}/assistants/${assistant_id}`, { method: 'PATCH', body: { metadata } }),
      ask(`${url}/assistants/${assistant_id}`, { method: 'DELETE' }),
      ask(`${url}/runs/crons/${cron_id}`, { method: 'PATCH', body: { metadata } }),
      ask(`${url}/runs/crons/${cron_id}`, { method: 'DELETE' }),
    ]).finally(async () => {
      await holder.query('COMMIT');
      holder.release();
    });
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
    for (const { headers } of answers) expect(headers['retry-after']).toBe('1');
    expect((await client.threads.get(thread_id)).metadata).toMatchObject({ n: 1 });
  });
});

describe('while Redis is away, the service', () => {
  beforeAll(() => deployment.lines.redis.refuse());

  it('is not ready, and reports which part is missing', async () => {
    expect((await ask(`${deployment.url}/ok`)).status).toBe(200);
    expect(await ask(`${deployment.url}/ok?check_db=1`)).toMatchObject({
      status: 503,
      json: { detail: 'Not available: redis' },
    });
  });

  it('accepts runs, and answers those who wait from the database', async () => {
    const answer = await open(`${deployment.url}/runs/wait`, { body });
    const run = await deployment.worker.take();
    await run.succeed({ n: 1 });
    expect((await answer.complete).trim()).toBe('{"n":1}');
  });

  it('cancels runs: the order is durable without it', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const { run_id } = await deployment.client.runs.create(thread_id, 'echo', { input: {} });
    expect((await ask(`${deployment.url}/threads/${thread_id}/runs/${run_id}/cancel`, { method: 'POST' })).status).toBe(
      202,
    );
    expect((await deployment.client.runs.get(thread_id, run_id)).status).toBe('interrupted');
  });

  it('refuses the stream of a thread from now on: nobody knows where it is', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const stream = `${deployment.url}/threads/${thread_id}/stream`;
    expect(await ask(stream)).toMatchObject({ status: 503, json: { detail: 'The event stream is not available' } });
    const resumed = await open(stream, { headers: { 'last-event-id': '-1' } });
    expect(resumed.status).toBe(200);
    resumed.hangUp();
  });

  it('continues an open stream once it is back, missing nothing that is kept', async () => {
    const answer = await open(`${deployment.url}/runs/stream`, { body: { ...body, stream_resumable: true } });
    const run = await deployment.worker.take();
    await run.emit('values', { n: 1 });
    await deployment.lines.redis.heal();
    await answer.until('{"n":1}');
    await run.emit('values', { n: 2 });
    await run.succeed({});
    const text = await answer.complete;
    expect([...text.matchAll(/data: \{"n":(\d)\}/g)].map(([, n]) => n)).toEqual(['1', '2']);
    await waitFor(async () => (await ask(`${deployment.url}/ok?check_db=1`)).status === 200);
  });
});

/**
 * Calls each part that uses the database in its own way: prepared statements, shared transactions, Prisma and its
 * transactions.
 */
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

describe('while Postgres is away, the service', () => {
  beforeAll(() => deployment.lines.postgres.refuse());

  it('answers 503 with Retry-After, whichever part used the database', async () => {
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
  });
});

describe('while its connections to its servers are unresponsive, the service', () => {
  afterEach(() => Promise.all([deployment.lines.postgres.heal(), deployment.lines.redis.heal()]));

  it('reports that the database is not available, and works when it is back', async () => {
    const { thread_id } = await deployment.client.threads.create();
    deployment.lines.postgres.partition();
    await expectOutages([...askingTheDatabase(), ask(`${deployment.url}/threads/${thread_id}/state`)]);
    await deployment.lines.postgres.heal();
    await waitFor(async () => (await ask(`${deployment.url}/threads/${thread_id}/state`)).status === 200);
  });

  it('creates, reports and cancels runs while Redis is unresponsive', async () => {
    deployment.lines.redis.partition();
    const { thread_id } = await deployment.client.threads.create();
    const { run_id } = await deployment.client.runs.create(thread_id, 'echo', { input: {}, afterSeconds: 60 });
    const cancelled = await ask(`${deployment.url}/threads/${thread_id}/runs/${run_id}/cancel`, { method: 'POST' });
    const deleted = await ask(`${deployment.url}/threads/${thread_id}`, { method: 'DELETE' });
    expect([cancelled.status, deleted.status]).toEqual([202, 204]);
  });
});
