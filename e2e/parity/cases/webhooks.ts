import { randomUUID } from 'node:crypto';
import { WebhookReceiver, waitFor } from '@runyard/test-kit';
import { expect } from 'vitest';
import { fieldCase, type ParityAnswer, type ParityContext, statusCase } from '../framework/index.ts';

const ON_THREAD = ['createRun', 'streamRun', 'waitRun'];
const STATELESS = ['createStatelessRun', 'streamStatelessRun', 'waitStatelessRun'];

let opened: Promise<WebhookReceiver> | undefined;
/** Opens one receiver for all cases; each has a path of its own. */
function receiver(): Promise<WebhookReceiver> {
  opened ??= new WebhookReceiver().open();
  return opened;
}

/** Returns the id of the run in an answer: from its body, or from its `Content-Location`. */
function runIdOf({ headers, body }: ParityAnswer): string {
  return body?.run_id ?? body?.[0]?.run_id ?? headers.get('content-location')?.split('/').at(-1);
}

/** Returns the log of a run once it has ended; that also settles whether anybody is notified. */
async function logOf({ direct }: ParityContext, runId: string): Promise<{ url: string; status: string }[]> {
  const { thread_id } = (await direct.call('getStatelessRun', { params: { run_id: runId } })).body;
  await direct.call('joinRun', { params: { thread_id, run_id: runId } });
  return (await direct.call('listWebhookDeliveries', { params: { thread_id, run_id: runId } })).body;
}

async function tellsOfTheEnd(context: ParityContext): Promise<void> {
  const { operation, direct } = context;
  const hooks = await receiver();
  const path = `/${randomUUID()}`;
  const run = { assistant_id: 'echo', input: { messages: [] }, webhook: hooks.url(path), on_completion: 'keep' };
  const thread = ON_THREAD.includes(operation) && {
    params: { thread_id: (await direct.client.threads.create()).thread_id },
  };
  const { on_completion: _, ...onThread } = run;
  const body = operation === 'createRunBatch' ? [run] : thread ? onThread : run;
  const answer = await context.call(operation, { ...thread, body });
  expect(answer.status, answer.text).toBe(200);
  const runId = runIdOf(answer);
  expect(await logOf(context, runId)).toMatchObject([{ url: hooks.url(path) }]);
  const [told] = await hooks.received(path);
  expect(told?.body).toMatchObject({ run_id: runId, status: 'success', values: { messages: expect.any(Array) } });
}

const promise = 'webhook is told of the end of the run, with its final values';

export const cases = [
  fieldCase({ operations: [...ON_THREAD, ...STATELESS], field: 'body.webhook', promise, run: tellsOfTheEnd }),
  fieldCase({ operations: ['createRunBatch'], field: 'body[].webhook', promise, run: tellsOfTheEnd }),
  statusCase({
    operation: 'listWebhookDeliveries',
    status: 200,
    promise: 'a run that names nobody has told nobody when it has ended, one that names somebody has a delivery',
    run: async (context) => {
      const { call, direct } = context;
      const { thread_id } = await direct.client.threads.create();
      const webhook = (await receiver()).url(`/${randomUUID()}`);
      const told = await direct.client.runs.create(thread_id, 'echo', { input: { messages: [] }, webhook });
      const silent = await direct.client.runs.create(thread_id, 'echo', { input: { messages: [] } });
      expect(await logOf(context, told.run_id)).toMatchObject([{ url: webhook }]);
      await direct.call('joinRun', { params: { thread_id, run_id: silent.run_id } });
      const answer = await call('listWebhookDeliveries', { params: { thread_id, run_id: silent.run_id } });
      expect(answer.body).toEqual([]);
      return answer;
    },
  }),
  statusCase({
    operation: 'redeliverWebhook',
    status: 200,
    promise: 'a webhook that its receiver refused is sent again, under the same id',
    run: async (context) => {
      const { call, direct } = context;
      const { thread_id } = await direct.client.threads.create();
      const [hooks, path] = [await receiver(), `/${randomUUID()}`];
      hooks.answer(path, { status: 400 });
      const webhook = hooks.url(path);
      const { run_id } = await direct.client.runs.create(thread_id, 'echo', { input: { messages: [] }, webhook });
      const params = { thread_id, run_id };
      const { delivery_id } = await waitFor(async () => {
        const { body } = await direct.call('listWebhookDeliveries', { params });
        return body[0]?.status === 'failed' ? body[0] : undefined;
      });
      const answer = await call('redeliverWebhook', { params: { ...params, delivery_id } });
      expect(answer.body).toMatchObject({ delivery_id, url: webhook });
      const [first, second] = await hooks.received(path, 2);
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      return answer;
    },
  }),
  statusCase({
    operation: 'redeliverWebhook',
    status: 409,
    promise: 'a webhook that was delivered is not sent again: what was sent is no longer stored',
    run: async ({ call, direct }) => {
      const { thread_id } = await direct.client.threads.create();
      const webhook = (await receiver()).url(`/${randomUUID()}`);
      const { run_id } = await direct.client.runs.create(thread_id, 'echo', { input: { messages: [] }, webhook });
      const params = { thread_id, run_id };
      const { delivery_id } = await waitFor(async () => {
        const { body } = await direct.call('listWebhookDeliveries', { params });
        return body[0]?.status === 'delivered' ? body[0] : undefined;
      });
      return call('redeliverWebhook', { params: { ...params, delivery_id } });
    },
  }),
];
