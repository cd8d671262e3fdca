import { randomUUID } from 'node:crypto';
import { openPool } from '@runyard/database';
import { createDataCipher, EncryptionError, NO_ENCRYPTION } from '@runyard/encryption';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type AcceptedRun,
  type ClaimedWebhook,
  PushConfigs,
  TooManyPushConfigsError,
  type WebhookContent,
  type WebhookLoad,
  WebhookQueue,
  type WebhookTarget,
} from '../src/index.ts';
import { CLAIM } from '../src/webhooks/webhook-queue.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

let fixture: EngineFixture;
let worker: string;
let queue: WebhookQueue;
let signals = 0;
beforeAll(async () => {
  fixture = await openEngine({
    maxFailures: 1,
    onWebhooksQueued: () => {
      signals += 1;
    },
  });
  worker = await fixture.worker();
  queue = new WebhookQueue(fixture.pool);
});
afterAll(() => fixture.close());
beforeEach(async () => {
  await fixture.pool.query('TRUNCATE webhook_delivery');
  signals = 0;
});

const target = (host = 'hook.test', path = '/in'): WebhookTarget => ({ url: `https://${host}${path}`, host });
const some = (count: number, bytes = 0) => ({ count, bytes });
const MUCH = some(100, 1_000_000);
const take = { limit: MUCH, limitPerHost: MUCH, inFlight: new Map<string, WebhookLoad>(), leaseMs: 60_000 };
const webhooks = [target()];

async function started(overrides: Partial<AcceptedRun> = {}) {
  const { run } = await fixture.engine.createRun(aRun({ webhooks, ...overrides }));
  return (await fixture.engine.claimRuns(worker, 100)).find(({ runId }) => runId === run.runId)!;
}
async function onlyClaimed(): Promise<ClaimedWebhook & WebhookContent> {
  const { claimed } = await queue.claim(take);
  expect(claimed).toHaveLength(1);
  return { ...claimed[0]!, ...(await claimed[0]!.readContent()) };
}

it('the end of a run is queued for the receivers of its task, and runs of other threads notify none of them', async () => {
  const configs = new PushConfigs(fixture.pool);
  const [threadId, taskId] = [await fixture.thread(), randomUUID()];
  const receiver = { taskId, version: '1.0', url: 'https://push.test/in', host: 'push.test' } as const;
  const task = { taskId, pushConfigs: [{ ...receiver, configId: 'sent with it', secrets: { token: 't' } }] };
  const first = await started({ threadId, runId: taskId, webhooks: [], metadata: { task_id: taskId }, task });
  await configs.store({ ...receiver, threadId, configId: 'later', secrets: {} });
  for (const [id, metadata] of [
    [await fixture.thread(), { task_id: taskId }],
    [threadId, { task_id: "no uuid'" }],
  ] as const) {
    if (id === threadId) await fixture.engine.finishRun(success(first));
    const other = await started({ threadId: id, webhooks: [], metadata, task: { taskId, pushConfigs: [] } });
    await fixture.engine.finishRun(success(other));
  }
  const { claimed } = await queue.claim(take);
  const contents = await Promise.all(claimed.map((webhook) => webhook.readContent()));
  const pushes = contents.map(({ run, push }) => [run.run_id, push?.configId, push?.secrets]);
  expect(pushes.sort()).toEqual([
    [taskId, 'later', {}],
    [taskId, 'sent with it', { token: 't' }],
  ]);
  await fixture.engine.deleteRun(threadId, taskId);
  expect(await configs.list(taskId)).toEqual([]);
  await expect(configs.store({ ...receiver, threadId, configId: 'x', secrets: {} })).rejects.toThrow('Task not found');
});

it.each(['run', 'thread'])('a task is pushed as canceled when its %s is deleted while it works', async (what) => {
  const [threadId, taskId] = [await fixture.thread(), randomUUID()];
  const config = {
    version: '1.0',
    url: 'https://push.test/in',
    host: 'push.test',
    configId: 'c',
    secrets: {},
  } as const;
  const task = { taskId, pushConfigs: [{ ...config, taskId }] };
  await started({ threadId, runId: taskId, webhooks: [], metadata: { task_id: taskId }, task });
  if (what === 'run') await fixture.engine.deleteRun(threadId, taskId);
  else await fixture.engine.deleteThread(threadId);
  const told = await onlyClaimed();
  expect(told).toMatchObject({ run: { run_id: taskId, status: 'interrupted' }, push: { configId: 'c' } });
  expect(signals).toBe(1);
});

it('a run whose receiver is one too many for its task is refused, and one that replaces a receiver is not', async () => {
  const configs = new PushConfigs(fixture.pool);
  const [threadId, taskId] = [await fixture.thread(), randomUUID()];
  const receiver = { taskId, version: '1.0', url: 'https://push.test/in', host: 'push.test', secrets: {} } as const;
  const bring = (configId: string) => ({ taskId, pushConfigs: [{ ...receiver, configId }] });
  const first = await started({ threadId, runId: taskId, webhooks: [], task: bring('0') });
  for (let number = 1; number < 20; number += 1) {
    await configs.store({ ...receiver, threadId, configId: String(number) });
  }
  await fixture.engine.finishRun(success(first));
  const answer = { ...aRun({ threadId, webhooks: [] }), followsRunId: taskId };
  const late = fixture.engine.createRun({ ...answer, task: bring('20') });
  await expect(late).rejects.toThrow(TooManyPushConfigsError);
  await expect(configs.store({ ...receiver, threadId, configId: '20' })).rejects.toThrow(TooManyPushConfigsError);
  await fixture.engine.createRun({ ...answer, task: bring('19') });
  expect(await configs.list(taskId)).toHaveLength(20);
});

it('a run that ends is queued for its receiver with its whole content, even if run and thread are deleted at once', async () => {
  const threadId = await fixture.thread();
  const run = await started({ threadId, metadata: { team: 'red' }, kwargs: { input: 'x\u0000y' } });
  expect((await queue.claim(take)).claimed).toEqual([]);
  await fixture.engine.finishRun(success(run, { values: Buffer.from('{"n":"a\\u0000"}') }));
  expect(signals).toBe(1);
  await fixture.engine.deleteThread(threadId);
  const told = await onlyClaimed();
  expect(told).toMatchObject({ url: 'https://hook.test/in', host: 'hook.test', attempt: 1 });
  expect(told.run).toMatchObject({
    run_id: run.runId,
    thread_id: threadId,
    assistant_id: run.assistantId,
    status: 'success',
    metadata: { team: 'red' },
    multitask_strategy: 'enqueue',
    error: null,
  });
  expect(new Date(told.run.ended_at).getTime()).toBeGreaterThanOrEqual(new Date(told.run.started_at!).getTime());
  expect(JSON.parse(Buffer.from(told.kwargs).toString())).toEqual({ input: 'x\u0000y' });
  expect(Buffer.from(told.values!).toString()).toBe('{"n":"a\\u0000"}');
});

it('a run without a webhook queues nothing and wakes nobody', async () => {
  const run = await started({ webhooks: [] });
  await fixture.engine.finishRun(success(run));
  expect(await fixture.rows('SELECT 1 FROM webhook_delivery')).toEqual([]);
  expect(signals).toBe(0);
});

const endings: [string, string, () => Promise<string>][] = [
  [
    'fails',
    'error',
    async () => {
      const run = await started({ threadId: await fixture.thread() });
      const error = { error: 'ValueError', message: 'no' };
      await fixture.engine.finishRun(success(run, { status: 'error', threadStatus: 'error', error, values: null }));
      return run.runId;
    },
  ],
  [
    'is stateless and leaves no thread',
    'success',
    async () => {
      const run = await started();
      await fixture.engine.finishRun(success(run));
      return run.runId;
    },
  ],
  [
    'is cancelled while it waits',
    'interrupted',
    async () => {
      const threadId = await fixture.thread();
      const { run } = await fixture.engine.createRun(aRun({ webhooks, threadId, afterSeconds: 600 }));
      await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'interrupt', 'asked to');
      return run.runId;
    },
  ],
  [
    'is cancelled while it runs',
    'interrupted',
    async () => {
      const run = await started({ threadId: await fixture.thread() });
      await fixture.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, 'interrupt', 'asked to');
      await fixture.engine.finishRun(success(run));
      return run.runId;
    },
  ],
  [
    'is rolled back',
    'interrupted',
    async () => {
      const run = await started({ threadId: await fixture.thread() });
      await fixture.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, 'rollback', 'asked to');
      await fixture.engine.finishRun(success(run));
      return run.runId;
    },
  ],
  [
    'gives way to another on its thread',
    'interrupted',
    async () => {
      const threadId = await fixture.thread();
      const { run } = await fixture.engine.createRun(aRun({ webhooks, threadId, afterSeconds: 600 }));
      await fixture.engine.createRun(aRun({ threadId, multitaskStrategy: 'interrupt', afterSeconds: 600 }));
      return run.runId;
    },
  ],
  [
    'is given up after its attempts',
    'error',
    async () => {
      const run = await started({ threadId: await fixture.thread() });
      await fixture.engine.releaseRun(run.fence, { failure: { error: 'HostLost', message: 'gone' } });
      return run.runId;
    },
  ],
  [
    'is found without its worker by the sweep',
    'error',
    async () => {
      const run = await started({ threadId: await fixture.thread() });
      await fixture.pool.query('UPDATE run SET worker_id = gen_random_uuid() WHERE run_id = $1', [run.runId]);
      await fixture.engine.sweep();
      return run.runId;
    },
  ],
  [
    'is deleted while it runs',
    'interrupted',
    async () => {
      const run = await started({ threadId: await fixture.thread() });
      await fixture.engine.deleteRun(run.threadId, run.runId);
      return run.runId;
    },
  ],
  [
    'loses its thread while it waits',
    'interrupted',
    async () => {
      const threadId = await fixture.thread();
      const { run } = await fixture.engine.createRun(aRun({ webhooks, threadId, afterSeconds: 600 }));
      await fixture.engine.deleteThread(threadId);
      return run.runId;
    },
  ],
];
it.each(endings)('a run that %s is reported once, as %s', async (_, status, end) => {
  const runId = await end();
  expect(signals).toBe(1);
  const { run } = await onlyClaimed();
  expect(run).toMatchObject({
    run_id: runId,
    status,
    error: status === 'error' ? { error: expect.any(String) } : null,
  });
  await fixture.engine.deleteRun(run.thread_id, runId).catch(() => undefined);
  expect(await fixture.rows('SELECT 1 FROM webhook_delivery')).toHaveLength(1);
});

it('a refused receiver is in the log at once and never claimed, and other receivers of the run are notified', async () => {
  const refused = { ...target('127.0.0.1'), refusal: 'Webhook host blocked: localhost address' };
  const run = await started({ webhooks: [refused, target('fine.test')] });
  expect(await queue.listOfRun(run.threadId, run.runId)).toMatchObject([
    { url: refused.url, status: 'refused', dueAt: null, attempts: [{ statusCode: null, error: refused.refusal }] },
  ]);
  await fixture.engine.finishRun(success(run));
  expect((await onlyClaimed()).url).toBe('https://fine.test/in');
  expect((await queue.listOfRun(run.threadId, run.runId)).map(({ status }) => status)).toEqual(['refused', 'pending']);
});

/** Queues ended runs with a webhook each, one per given host. */
async function queued(hosts: string[]): Promise<void> {
  for (const host of hosts) await fixture.engine.finishRun(success(await started({ webhooks: [target(host)] })));
}

it('each delivery is claimed once when many processes claim at the same time', async () => {
  await queued(Array.from({ length: 12 }, () => 'a.test'));
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => queue.claim({ ...take, limit: { ...MUCH, count: 3 } })),
  );
  const ids = claims.flatMap(({ claimed }) => claimed.map(({ deliveryId }) => deliveryId));
  expect(new Set(ids).size).toBe(ids.length);
  const rest = await queue.claim(take);
  expect(ids.length + rest.claimed.length).toBe(12);
});

it('one host cannot take all places of a claim', async () => {
  await queued(['slow.test', 'slow.test', 'slow.test', 'slow.test', 'fast.test']);
  const hosts = (claims: { claimed: ClaimedWebhook[] }) => claims.claimed.map(({ host }) => host).sort();
  const two = { ...take, limitPerHost: { ...MUCH, count: 2 } };
  const first = await queue.claim(two);
  expect(hosts(first)).toEqual(['fast.test', 'slow.test', 'slow.test']);
  const busy = await queue.claim({ ...two, inFlight: new Map([['slow.test', some(2)]]) });
  expect(hosts(busy)).toEqual([]);
  // Waiting deliveries of the slow host are no reason to look again at once.
  expect(busy.nextInMs).toBeGreaterThan(50_000);
  expect(hosts(await queue.claim({ ...two, inFlight: new Map([['slow.test', some(1)]]) }))).toHaveLength(1);
});

it('a claim is limited in bytes, in total and per host, but always takes at least one delivery', async () => {
  await queued(['large.test', 'large.test', 'small.test']);
  await fixture.pool.query(
    `UPDATE webhook_delivery SET kwargs = convert_to(repeat('x', 1000), 'UTF8') WHERE host = 'large.test'`,
  );
  const hosts = (claims: { claimed: ClaimedWebhook[] }) => claims.claimed.map(({ host }) => host).sort();
  const first = await queue.claim({ ...take, limitPerHost: { ...MUCH, bytes: 500 }, leaseMs: 0 });
  expect(hosts(first)).toEqual(['large.test', 'small.test']);
  const inFlight = new Map([['large.test', some(1, 1_000)]]);
  const busy = await queue.claim({ ...take, limitPerHost: { ...MUCH, bytes: 500 }, inFlight, leaseMs: 0 });
  expect(hosts(busy)).toEqual(['small.test']);
  expect(hosts(await queue.claim({ ...take, limit: { ...MUCH, bytes: 500 } }))).toHaveLength(1);
});

it('deliveries to a removed receiver end with their content, and those to others do not', async () => {
  await queued(['gone.test', 'gone.test', 'here.test']);
  expect(await queue.failAllFor(target('gone.test').url, 'gone.test', 'gone')).toBe(2);
  expect((await onlyClaimed()).host).toBe('here.test');
  expect(
    await fixture.rows(
      `SELECT count(run)::integer AS runs, log->0->>'error' AS error FROM webhook_delivery WHERE status = 'failed' GROUP BY 2`,
    ),
  ).toEqual([{ runs: 2, error: 'gone' }]);
});

it('a try that is not settled within its lease is repeated, and the late result of the first is refused', async () => {
  await queued(['a.test']);
  const [first] = (await queue.claim({ ...take, leaseMs: 0 })).claimed;
  const [second] = (await queue.claim(take)).claimed;
  expect([first?.attempt, second?.attempt]).toEqual([1, 2]);
  const outcome = { startedAt: new Date(), durationMs: 5, statusCode: 200, error: null, retryInMs: null };
  const of = ({ deliveryId, attempt }: ClaimedWebhook) => ({ deliveryId, attempt, ...outcome });
  expect(await queue.recordOutcome(of(first!))).toBe(false);
  expect(await queue.recordOutcome(of(second!))).toBe(true);
});

it('a retry is due after its pause, and what was delivered keeps its log and loses its content', async () => {
  await queued(['a.test']);
  const { deliveryId, run } = await onlyClaimed();
  const tried = { deliveryId, startedAt: new Date(), durationMs: 5 };
  await queue.recordOutcome({ ...tried, attempt: 1, statusCode: 503, error: 'HTTP 503', retryInMs: 40_000 });
  const waiting = await queue.claim(take);
  expect(waiting.claimed).toEqual([]);
  expect(waiting.nextInMs).toBeGreaterThan(30_000);
  await fixture.pool.query('UPDATE webhook_delivery SET due_at = now()');
  expect((await onlyClaimed()).attempt).toBe(2);
  await queue.recordOutcome({ ...tried, attempt: 2, statusCode: 200, error: null, retryInMs: null });
  expect(await queue.listOfRun(run.thread_id, run.run_id)).toMatchObject([
    {
      status: 'delivered',
      dueAt: null,
      attempts: [
        { statusCode: 503, error: 'HTTP 503' },
        { statusCode: 200, error: null },
      ],
    },
  ]);
  expect(await fixture.rows('SELECT run, kwargs, result FROM webhook_delivery')).toEqual([
    { run: null, kwargs: null, result: null },
  ]);
  expect(await queue.removeOld(60_000)).toBe(0);
  expect(await queue.removeOld(-1)).toBe(1);
});

it('a released delivery is due at once, or after the time given, and its try does not count', async () => {
  await queued(['a.test']);
  await queue.release((await queue.claim(take)).claimed);
  const claimed = await onlyClaimed();
  expect(claimed.attempt).toBe(1);
  await queue.release([claimed], 60_000);
  expect(await queue.claim(take)).toMatchObject({ claimed: [], nextInMs: expect.closeTo(60_000, -4) });
  expect(await queue.listOfRun(claimed.run.thread_id, claimed.run.run_id)).toMatchObject([{ attempts: [] }]);
});

/** Ends the only delivery, as failed, and returns it. */
async function failed(tries = 1) {
  const claimed = await onlyClaimed();
  const tried = { deliveryId: claimed.deliveryId, startedAt: new Date(), durationMs: 5, statusCode: 400 };
  for (let attempt = 1; attempt < tries; attempt += 1) {
    await queue.recordOutcome({ ...tried, attempt, error: 'HTTP 503', retryInMs: 0 });
    await queue.claim(take);
  }
  await queue.recordOutcome({ ...tried, attempt: tries, error: 'HTTP 400', retryInMs: null });
  const { deliveryId, run } = claimed;
  return { deliveryId, threadId: run.thread_id, runId: run.run_id };
}

it('a delivery that was given up is sent again with its content and all its tries, as often as it is asked for', async () => {
  await queued(['a.test']);
  const given = await failed(2);
  expect(await queue.listOfRun(given.threadId, given.runId)).toMatchObject([
    { status: 'failed', dueAt: null, hasContent: true },
  ]);
  for (const wrong of [{ threadId: randomUUID() }, { runId: randomUUID() }, { deliveryId: randomUUID() }]) {
    await queue.redeliver({ ...given, ...wrong }, 30_000);
  }
  expect((await queue.claim(take)).claimed).toEqual([]);
  await queue.redeliver(given, 30_000);
  expect(await queue.removeOld(-1)).toBe(0);
  expect(await failed()).toEqual(given);
  await queue.redeliver(given, 30_000);
  const again = await onlyClaimed();
  expect(again).toMatchObject({ attempt: 1, deliveryId: given.deliveryId, run: { status: 'success' } });
  const [listed] = await queue.listOfRun(given.threadId, given.runId);
  expect(listed!.attempts.map(({ error }) => error)).toEqual(['HTTP 503', 'HTTP 400', 'HTTP 400']);
});

it('a delivery that waits for its next try is sent at once when asked for, and one that is being tried is left alone', async () => {
  await queued(['a.test']);
  const { deliveryId, run } = await onlyClaimed();
  const given = { deliveryId, threadId: run.thread_id, runId: run.run_id };
  await queue.redeliver(given, take.leaseMs);
  expect((await queue.claim(take)).claimed).toEqual([]);
  const tried = { deliveryId, startedAt: new Date(), durationMs: 5, statusCode: 503, error: 'HTTP 503' };
  await queue.recordOutcome({ ...tried, attempt: 1, retryInMs: 3_600_000 });
  await queue.redeliver(given, take.leaseMs);
  expect((await onlyClaimed()).attempt).toBe(1);
});

it('a log keeps the last hundred tries of a delivery, however often it is sent again', async () => {
  await queued(['a.test']);
  const given = await failed();
  await fixture.rows(`UPDATE webhook_delivery SET log = (SELECT jsonb_agg(log -> 0 || jsonb_build_object('status_code', n))
                                                         FROM generate_series(1, 100) AS n)`);
  await queue.redeliver(given, 30_000);
  await failed();
  const [listed] = await queue.listOfRun(given.threadId, given.runId);
  expect(listed!.attempts).toHaveLength(100);
  expect([listed!.attempts[0]!.statusCode, listed!.attempts.at(-1)!.statusCode]).toEqual([2, 400]);
});

it.each(['run', 'thread'])('the content of an ended delivery goes with its %s when that is deleted', async (what) => {
  const threadId = await fixture.thread();
  await fixture.engine.finishRun(success(await started({ threadId })));
  const given = await failed();
  if (what === 'run') await fixture.engine.deleteRun(threadId, given.runId);
  else await fixture.engine.deleteThread(threadId);
  expect(await queue.listOfRun(threadId, given.runId)).toMatchObject([{ status: 'failed', hasContent: false }]);
  expect(await fixture.rows('SELECT run, kwargs, result, push_secrets FROM webhook_delivery')).toEqual([
    { run: null, kwargs: null, result: null, push_secrets: null },
  ]);
  await queue.redeliver(given, 30_000);
  expect((await queue.claim(take)).claimed).toEqual([]);
});

it('a delivery that cannot be decrypted here keeps its content, which a process with the key sends', async () => {
  await queued(['locked.test', 'open.test']);
  const cipher = createDataCipher('k'.repeat(32));
  const kwargs = Buffer.from('{"input":"secret"}');
  const text = "UPDATE webhook_delivery SET kwargs = $1 WHERE host = 'locked.test'";
  await fixture.pool.query(text, [cipher.encrypt(kwargs)]);
  const { claimed } = await queue.claim(take);
  const [locked, open] = [...claimed].sort((a, b) => a.host.localeCompare(b.host));
  await expect(locked!.readContent()).rejects.toThrow(EncryptionError);
  expect(await open!.readContent()).toMatchObject({ run: { status: 'success' } });
  const { deliveryId, attempt } = locked!;
  const tried = { deliveryId, attempt, startedAt: new Date(), durationMs: 0, statusCode: null };
  expect(await queue.recordOutcome({ ...tried, error: 'not decrypted', retryInMs: 0 })).toBe(true);
  const [again] = (await new WebhookQueue(fixture.pool, cipher).claim(take)).claimed;
  expect(again).toMatchObject({ deliveryId, attempt: 2 });
  expect(Buffer.from((await again!.readContent()).kwargs)).toEqual(kwargs);
});

it('a delivery waits for no other whose key is not to be had', async () => {
  await queued(['hung.test', 'open.test']);
  const loadKeys = (rows: unknown) =>
    JSON.stringify(rows).includes('hung.test') ? new Promise<void>(() => undefined) : undefined;
  const { connectionString } = fixture.pool.options as { connectionString: string };
  const pool = openPool({ connectionString, max: 1, applicationName: 'webhooks-test', beforeRows: loadKeys });
  const { claimed } = await new WebhookQueue(pool, { ...NO_ENCRYPTION, loadKeys }).claim(take);
  const open = claimed.find(({ host }) => host === 'open.test');
  expect(await open!.readContent()).toMatchObject({ run: { status: 'success' } });
  expect(claimed).toHaveLength(2);
  await pool.end();
});

it('a host with a long queue does not delay the others', async () => {
  await queued(['slow.test']);
  await fixture.pool.query(`
    INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, due_at, run, kwargs)
    SELECT gen_random_uuid(), thread_id, 1, url, host, due_at, run, kwargs
    FROM webhook_delivery, generate_series(1, 2000)`);
  await queued(['fast.test']);
  await fixture.pool.query('ANALYZE webhook_delivery');
  const busy = { ...take, limitPerHost: { ...MUCH, count: 5 }, inFlight: new Map([['slow.test', some(5)]]) };
  const { claimed } = await queue.claim(busy);
  expect(claimed.map(({ host }) => host)).toEqual(['fast.test']);
  expect((await queue.claim(busy)).nextInMs).toBeGreaterThan(50_000);
});

it('hosts whose receivers are silent do not keep the places from one that has none yet', async () => {
  await queued(['a.test', 'b.test']);
  await fixture.pool.query(`
    INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, due_at, run, kwargs)
    SELECT gen_random_uuid(), thread_id, 1, url, host, due_at, run, kwargs
    FROM webhook_delivery, generate_series(1, 20)`);
  await queued(['good.test']);
  const inFlight = new Map([
    ['a.test', some(2)],
    ['b.test', some(1)],
  ]);
  const claim = { ...take, limit: { ...MUCH, count: 2 }, inFlight };
  const hosts = (await queue.claim(claim)).claimed.map(({ host }) => host);
  expect(hosts.sort()).toEqual(['b.test', 'good.test']);
});

it('a queue with nothing to send, or only for hosts at their limit, names no time to look again', async () => {
  expect(await queue.claim(take)).toEqual({ claimed: [], nextInMs: null });
  await queued(['slow.test', 'slow.test']);
  const one = { ...take, limitPerHost: some(1, 1_000_000), inFlight: new Map([['slow.test', some(1)]]) };
  expect(await queue.claim(one)).toEqual({ claimed: [], nextInMs: null });
});

it('a claim looks at what is due, however many hosts have deliveries for later', async () => {
  await fixture.pool.query(`
    INSERT INTO webhook_delivery (run_id, thread_id, position, url, host, due_at, run, kwargs)
    SELECT gen_random_uuid(), gen_random_uuid(), 1, 'https://' || n, n::text, now() + interval '1 hour', '{}', '{}'
    FROM generate_series(1, 3000) AS n`);
  await queued(['due.test']);
  await fixture.pool.query('ANALYZE webhook_delivery');
  const values = [10, 10, [], [], [], 1_000_000, 1_000_000, 60_000];
  const [explained] = await fixture.rows(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${CLAIM}`, values);
  const [{ Plan: plan }] = explained!['QUERY PLAN'] as [{ Plan: Record<string, number> }];
  expect(plan['Actual Rows']).toBe(1);
  expect(plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!).toBeLessThan(300);
});
