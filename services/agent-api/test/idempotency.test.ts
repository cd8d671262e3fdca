import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask, open } from './raw-http.ts';

const AES_KEY = 'k'.repeat(32);
let deployment: TestDeployment;
let otherUrl: string;
beforeAll(async () => {
  deployment = await startDeployment({ env: { LANGGRAPH_AES_KEY: AES_KEY } });
  otherUrl = (await deployment.startAnother()).url;
});
afterAll(() => deployment?.close());

const aRun = { assistant_id: 'echo', input: { messages: ['a word nobody else has'] } };
const post = (path: string, key: string, body: unknown, url = deployment.url) =>
  ask(url + path, { method: 'POST', body, headers: { 'idempotency-key': key } });
const count = async (table: string) =>
  Number((await deployment.pool.query(`SELECT count(*) AS n FROM ${table}`)).rows[0].n);
/** Cancels all pending runs, because the fake worker takes the oldest one. */
const cancelPendingRuns = () => ask(`${deployment.url}/runs/cancel`, { body: { status: 'all' } });
const createEchoThread = async () => (await deployment.client.threads.create({ graphId: 'echo' })).thread_id;
const aWrite = { values: { messages: [{ type: 'human', content: 'hi' }] }, as_node: 'echo' };
const createThread = async () => (await deployment.client.threads.create()).thread_id;

/** Everything that creates: its path, a body, and the table that grows. */
const CREATIONS: [name: string, path: () => Promise<string>, body: unknown, table: string, grows: number][] = [
  ['a run on a thread', async () => `/threads/${await createThread()}/runs`, aRun, 'run', 1],
  ['a run without a thread', async () => '/runs', aRun, 'run', 1],
  [
    'a run that makes its thread',
    async () => `/threads/${randomUUID()}/runs`,
    { ...aRun, if_not_exists: 'create', multitask_strategy: 'reject' },
    'thread',
    1,
  ],
  ['runs by the batch', async () => '/runs/batch', [aRun, aRun, { ...aRun, on_completion: 'keep' }], 'run', 3],
  ['a thread', async () => '/threads', { metadata: { a: 1 } }, 'thread', 1],
  ['a thread with an id', async () => '/threads', { thread_id: randomUUID() }, 'thread', 1],
  [
    'a thread with supersteps',
    async () => '/threads',
    {
      thread_id: randomUUID(),
      graph_id: 'mirror',
      supersteps: [{ updates: [{ values: { text: 'hi' }, as_node: '__input__' }] }],
    },
    'thread',
    1,
  ],
  ['a copy of a thread', async () => `/threads/${await createThread()}/copy`, undefined, 'thread', 1],
  ['a write to a state', async () => `/threads/${await createEchoThread()}/state`, aWrite, 'checkpoint', 1],
  ['an assistant', async () => '/assistants', { graph_id: 'echo', name: 'Polite' }, 'assistant', 1],
  ['a cron', async () => '/runs/crons', { ...aRun, schedule: '0 0 1 1 *' }, 'cron', 1],
  [
    'a cron on a thread',
    async () => `/threads/${await createThread()}/runs/crons`,
    { ...aRun, schedule: '0 0 1 1 *' },
    'cron',
    1,
  ],
];

describe('a creation that is repeated with its key', () => {
  it.each(CREATIONS)(
    'makes %s once, in two processes at once, with one answer',
    async (_, pathOf, body, table, grows) => {
      const path = await pathOf();
      const before = await count(table);
      const key = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => post(path, key, body, index % 2 ? otherUrl : deployment.url)),
      );
      answers.push(await post(path, key, body, otherUrl));
      expect(answers.map(({ status, text }) => [status, text])).toEqual(answers.map(() => [200, answers[0]!.text]));
      expect(answers.filter(({ headers }) => headers['idempotent-replayed'] === undefined)).toHaveLength(1);
      expect(new Set(answers.map(({ headers }) => headers['content-location'])).size).toBe(1);
      expect(await count(table)).toBe(before + grows);

      const other = await post(
        path,
        key,
        Array.isArray(body) ? [aRun] : { ...(body as object), metadata: { other: true } },
      );
      // A copy has no body that could differ.
      if (body === undefined) expect(other.text).toBe(answers[0]!.text);
      else expect(other).toMatchObject({ status: 422, json: { detail: expect.stringContaining('idempotency-key') } });
      expect(await count(table)).toBe(before + grows);
    },
  );

  it('is answered as the first time, whatever became of what it created', async () => {
    await cancelPendingRuns();
    const [path, key] = [`/threads/${await createThread()}/runs`, randomUUID()];
    const first = await post(path, key, aRun);
    const run = await deployment.worker.take();
    await run.succeed({ n: 1 });
    expect((await post(path, key, aRun)).text).toBe(first.text);
    await ask(`${deployment.url}${path.slice(0, -'/runs'.length)}`, { method: 'DELETE' });
    expect(await post(path, key, aRun)).toMatchObject({ status: 200, text: first.text });
  });

  it('that was refused the first time succeeds when it can', async () => {
    const threadId = await createThread();
    const [path, key] = [`/threads/${threadId}/runs`, randomUUID()];
    await deployment.client.runs.create(threadId, 'echo', { input: {} });
    const rejecting = { ...aRun, multitask_strategy: 'reject' };
    expect(await post(path, key, rejecting)).toMatchObject({ status: 409 });
    expect(await post('/runs', key, { ...aRun, assistant_id: randomUUID() })).toMatchObject({ status: 404 });
    const run = await deployment.worker.take();
    await run.succeed({});
    const made = await post(path, key, rejecting);
    expect(made).toMatchObject({ status: 200 });
    expect(made.headers['idempotent-replayed']).toBeUndefined();
    await (await deployment.worker.take()).succeed({});
  });

  it('that writes to a state happens once, also when its process died before the answer', async () => {
    const [path, key] = [`/threads/${await createEchoThread()}/state`, randomUUID()];
    const first = await post(path, key, aWrite);
    expect(first.status, first.text).toBe(200);
    const before = await count('checkpoint');
    // This is the state after a death between the checkpoint and the answer.
    await deployment.pool.query(
      "UPDATE idempotency_key SET answer = NULL, claimed_at = now() - interval '1 minute' WHERE expires_at > now()",
    );
    expect((await post(path, key, aWrite)).json).toEqual(first.json);
    expect((await post(path, key, aWrite, otherUrl)).json).toEqual(first.json);
    expect(await count('checkpoint')).toBe(before);
  });

  it('that writes to a state releases its key when the graph refuses', async () => {
    const [path, key] = [`/threads/${await createEchoThread()}/state`, randomUUID()];
    expect(await post(path, key, { values: {}, as_node: 'nowhere' })).toMatchObject({ status: 400 });
    expect(await post(path, key, aWrite)).toMatchObject({ status: 200 });
  });

  it('with supersteps that fail releases its key', async () => {
    const body = { graph_id: 'mirror', supersteps: [{ updates: [{ values: {}, as_node: 'nowhere' }] }] };
    const key = randomUUID();
    for (const _ of [1, 2]) {
      const refused = await post('/threads', key, body);
      expect(refused).toMatchObject({ status: 400, json: { detail: expect.stringContaining('nowhere') } });
    }
    expect(await post('/threads', key, { metadata: {} })).toMatchObject({ status: 200 });
  });

  it('is 422 with an invalid key', async () => {
    for (const key of ['', 'x'.repeat(256)]) {
      expect(await post('/threads', key, {})).toMatchObject({
        status: 422,
        json: { detail: expect.stringMatching(/^Header idempotency-key must be 1 to 255/) },
      });
    }
  });

  it('leaves no body readable in a database that is encrypted', async () => {
    const key = randomUUID();
    await post('/runs', key, aRun);
    const { rows } = await deployment.pool.query('SELECT * FROM idempotency_key');
    const text = rows.map((row) => Object.values(row).map(String).join(' ')).join('\n');
    expect(text).not.toContain('a word nobody else has');
    expect(text).not.toContain(key);
  });
});

describe('a stream or a result that is requested again with its key', () => {
  beforeAll(cancelPendingRuns);
  const openWithKey = (path: string, key: string, body: unknown, url = deployment.url) =>
    open(url + path, { body, headers: { 'idempotency-key': key } });
  const runs = () => count('run');

  it.each([true, false])(
    'streams the same run from its start (resumable: %s), also from another process',
    async (stream_resumable) => {
      const path = `/threads/${await createThread()}/runs/stream`;
      const [key, body, before] = [randomUUID(), { ...aRun, stream_resumable }, await runs()];
      const cut = await openWithKey(path, key, body);
      const run = await deployment.worker.take();
      await run.emit('values', { n: 1 });
      await cut.until('"n":1');
      cut.hangUp();
      const again = await Promise.all([openWithKey(path, key, body), openWithKey(path, key, body, otherUrl)]);
      for (const answer of again) await answer.until('"n":1');
      await run.emit('values', { n: 2 });
      await run.succeed({ n: 2 });
      const texts = await Promise.all(again.map(({ complete }) => complete));
      for (const text of texts) {
        expect([...text.matchAll(/"n":(\d)/g)].map(([, n]) => n)).toEqual(['1', '2']);
      }
      const after = await openWithKey(path, key, body, otherUrl);
      expect((await after.complete).match(/"n":2/g)).toHaveLength(1);
      for (const answer of [...again, after]) {
        expect(answer.headers).toMatchObject({
          'idempotent-replayed': 'true',
          'content-location': cut.headers['content-location'],
        });
      }
      expect(await runs()).toBe(before + 1);
    },
  );

  it.each(['/runs/wait', 'on a thread'])('waits for the same run and gives the same result: %s', async (where) => {
    const path = where === '/runs/wait' ? where : `/threads/${await createThread()}/runs/wait`;
    const [key, before] = [randomUUID(), await runs()];
    const answers = [
      openWithKey(path, key, aRun),
      openWithKey(path, key, aRun, otherUrl),
      openWithKey(path, key, aRun),
    ];
    const run = await deployment.worker.take();
    (await answers[0]!).hangUp();
    await run.succeed({ n: 7 });
    answers.push(openWithKey(path, key, aRun, otherUrl));
    const texts = await Promise.all(answers.slice(1).map(async (answer) => (await (await answer).complete).trim()));
    expect(texts).toEqual(texts.map(() => '{"n":7}'));
    expect(await runs()).toBe(before + 1);
  });

  it('answers a deleted run as a join does', async () => {
    const threadId = await createThread();
    const [path, key] = [`/threads/${threadId}/runs`, randomUUID()];
    const stream = await openWithKey(`${path}/stream`, key, aRun);
    await (await deployment.worker.take()).succeed({ n: 1 });
    await stream.complete;
    await deployment.client.threads.delete(threadId);
    const answer = await openWithKey(`${path}/stream`, key, aRun);
    expect([answer.status, await answer.complete]).toEqual([404, expect.stringContaining('Run not found')]);
  });
});
