/** Holes that were found in published servers, each by the number of its advisory. */
import { randomUUID } from 'node:crypto';
import type { WebhookDelivery } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type GuardedDeployment, startGuardedDeployment, userHeaders } from './guarded-deployment.ts';
import { type Asked, askOperation } from './operation-rows.ts';

const ADA = userHeaders('ada');
const BOB = userHeaders('bob');

let deployment: GuardedDeployment;
beforeAll(async () => {
  // Routes of the project ask for a user alone here, so that webhooks reach them.
  deployment = await startGuardedDeployment({ LANGGRAPH_HTTP: JSON.stringify({ app: './app.ts:app' }) });
});
afterAll(() => deployment?.close());

const ask = async (operationId: string, asked: Asked, headers = ADA) => {
  const { status, body } = await askOperation(deployment.url, operationId, asked, headers);
  return { status, body: body as Record<string, unknown> };
};
const newThread = async (headers = ADA) => (await ask('createThread', { body: {} }, headers)).body.thread_id as string;

/** Ends runs in their order, up to this one, with values that would be a request for a run. */
async function finish(runId: string): Promise<void> {
  for (let taken = ''; taken !== runId; ) {
    const run = await deployment.worker.take();
    taken = run.claimed.runId;
    await run.succeed({ assistant_id: 'echo', input: {} });
  }
}

it('GHSA-747p-c922-m55f: a run that would create its thread does not run on the thread of another user', async () => {
  const thread_id = await newThread();
  const body = { assistant_id: 'echo', input: { messages: [] } };
  for (const creating of [{ if_not_exists: 'create' }, { on_not_exist: 'create' }]) {
    for (const operationId of ['createRun', 'streamRun', 'waitRun']) {
      const answer = await ask(operationId, { params: { thread_id }, body: { ...body, ...creating } }, BOB);
      expect([operationId, answer.status]).toEqual([operationId, 404]);
    }
  }
  expect((await ask('createThread', { body: { thread_id, if_exists: 'do_nothing' } }, BOB)).status).toBe(409);
  expect((await ask('listRuns', { params: { thread_id } })).body).toEqual([]);
  expect((await ask('getThread', { params: { thread_id } })).body).toMatchObject({ status: 'idle' });
  // A thread that does not exist yet is created, for the one who asks.
  const fresh = { thread_id: randomUUID() };
  const made = await ask('createRun', { params: fresh, body: { ...body, if_not_exists: 'create' } }, BOB);
  expect([made.status, (await ask('getThread', { params: fresh }, ADA)).status]).toEqual([200, 404]);
});

it('GHSA-jfj5-wrj9-63x4: a run asks who may read its assistant, and shows nothing of one that is hidden', async () => {
  const config = { configurable: { password: 'open sesame' } };
  const { body: assistant } = await ask('createAssistant', { body: { graph_id: 'echo', config, metadata: { a: 1 } } });
  const body = { assistant_id: assistant.assistant_id, metadata: { owner: 'ada' } };
  const thread_id = await newThread(BOB);
  const asked: [string, Asked][] = [
    ['createStatelessRun', { body }],
    ['createRunBatch', { body: [body] }],
    ['createRun', { params: { thread_id }, body }],
    ['createCron', { body: { ...body, schedule: '@yearly' } }],
    ['createThreadCron', { params: { thread_id }, body: { ...body, schedule: '@yearly' } }],
  ];
  for (const [operationId, each] of asked) {
    const answer = await ask(operationId, each, BOB);
    expect([operationId, answer.status]).toEqual([operationId, 404]);
    expect(JSON.stringify(answer.body)).not.toContain('open sesame');
  }
  // The handler of `search` alone does not decide, and the one of `read` is shown no metadata of the client's.
  const withoutSearch = { ...ADA, 'x-act': 'deny', 'x-on': 'assistants:search' };
  expect((await ask('createStatelessRun', { body }, withoutSearch)).status).toBe(200);
  const told = { ...ADA, 'x-act': 'tell', 'x-on': 'assistants:read' };
  expect((await ask('createStatelessRun', { body }, told)).status).toBe(200);
  const line = `asked assistants:read {"assistant_id":"${assistant.assistant_id}"}`;
  const isTold = () => deployment.service.output().replaceAll('\\"', '"').includes(line);
  await waitFor(isTold, { what: 'what the handler was shown' });
});

it('GHSA-2c9q-c2q9-qgqv: a webhook to a path reaches the app of the project alone, and never the server', async () => {
  const thread_id = await newThread();
  const targets = [`/threads/${thread_id}/runs`, `/threads/${thread_id}/state`, '/threads', '/noauth'];
  const results: unknown[] = [];
  for (const webhook of targets) {
    const { body: run } = await ask('createStatelessRun', { body: { assistant_id: 'echo', webhook } }, BOB);
    await finish(String(run.run_id));
    const params = { thread_id: String(run.thread_id), run_id: String(run.run_id) };
    results.push(
      await waitFor(async () => {
        const { body } = await ask('listWebhookDeliveries', { params }, BOB);
        const [delivery] = body as unknown as WebhookDelivery[];
        return delivery?.ended_at ? delivery.status : undefined;
      }),
    );
  }
  expect(results).toEqual(['failed', 'failed', 'failed', 'delivered']);
  expect((await ask('listRuns', { params: { thread_id } })).body).toEqual([]);
  const received = await (await fetch(`${deployment.url}/noauth`)).json();
  expect(received).toMatchObject([{ auth: null, body: { status: 'success' } }]);
  expect(JSON.stringify(received)).not.toMatch(/secret of bob|auth_user/);
});

it('GHSA-4hm6-w6qq-w73v: a namespace that the handler rewrote is the one that is used', async () => {
  const namespace = ['notes'];
  const item = { namespace, key: 'k' };
  await ask('putItem', { body: { ...item, value: { of: 'ada' } } });
  const read = { query: { namespace: 'notes', key: 'k' } };
  const around = { query: { namespace: 'ada.notes', key: 'k' } };
  expect((await ask('getItem', read)).body).toMatchObject({ value: { of: 'ada' } });
  for (const each of [read, around]) expect((await ask('getItem', each, BOB)).body).toBeNull();
  for (const body of [{}, { namespace_prefix: [] }, { namespace_prefix: ['ada'] }, { namespace_prefix: null }]) {
    expect((await ask('searchItems', { body }, BOB)).body).toEqual({ items: [] });
  }
  await ask('putItem', { body: { ...item, value: { of: 'bob' } } }, BOB);
  await ask('deleteItem', { body: item }, BOB);
  expect((await ask('getItem', read)).body).toMatchObject({ value: { of: 'ada' } });
});

it('GHSA-w39p-vh2g-g8g5: an id that holds a path is an id, and leads to no other resource', async () => {
  const thread_id = await newThread();
  for (const id of [
    `../threads/${thread_id}`,
    `x/../${thread_id}`,
    `${thread_id}/state`,
    `${thread_id}?a=1`,
    '%2e%2e',
  ]) {
    const { status } = await ask('getThread', { params: { thread_id: id } });
    expect([id, status]).toEqual([id, expect.toSatisfy((code: number) => code === 404 || code === 422)]);
    const assistant = await ask('getAssistant', { params: { assistant_id: id } });
    expect([id, assistant.status]).toEqual([id, expect.toSatisfy((code: number) => code === 404 || code === 422)]);
  }
});
