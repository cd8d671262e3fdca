import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext } from '../framework/index.ts';
import { ALL_OPERATIONS, ON_THREAD } from './runs/run-fixtures.ts';

const FIELD = 'header.idempotency-key';
const aRun = { assistant_id: 'mirror', input: { text: 'hi' } };
const aCron = { ...aRun, schedule: '0 0 1 1 *' };
const aThread = async ({ direct }: ParityContext) => ({ thread_id: (await direct.client.threads.create()).thread_id });

/** Calls the operation under test twice with one key; the answers are the same. */
async function askTwice(context: ParityContext, request: { params?: Record<string, string>; body?: unknown }) {
  const headers = { 'idempotency-key': randomUUID() };
  const ask = () => context.call(context.operation, { ...request, headers });
  const [first, second] = [await ask(), await ask()];
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
  expect([second.status, second.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(second.headers.get('content-location')).toBe(first.headers.get('content-location'));
  return [first, second] as const;
}

export const cases: ParityCase[] = [
  fieldCase({
    operations: ALL_OPERATIONS,
    field: FIELD,
    promise:
      'asked for again with its key, a run is not made again: the answer is the one, or the stream or result of the run',
    run: async (context) => {
      const isOnThread = ON_THREAD.includes(context.operation);
      const body = context.operation === 'createRunBatch' ? [aRun, aRun] : aRun;
      const [first, second] = await askTwice(context, { ...(isOnThread && { params: await aThread(context) }), body });
      if (first.events.length > 0) expect(second.events).toEqual(first.events);
      else expect(second.text.trim()).toBe(first.text.trim());
    },
  }),
  fieldCase({
    operations: ['createThread', 'copyThread', 'createAssistant', 'createCron', 'createThreadCron'],
    field: FIELD,
    promise: 'asked for again with its key, the same is answered and nothing more made',
    run: async (context) => {
      const { operation } = context;
      const hasThread = ['copyThread', 'createThreadCron'].includes(operation);
      const bodies: Record<string, unknown> = {
        createThread: { metadata: { a: 1 } },
        createAssistant: { graph_id: 'mirror', name: 'Twice' },
        createCron: aCron,
        createThreadCron: aCron,
      };
      const body = bodies[operation];
      const [first, second] = await askTwice(context, {
        ...(hasThread && { params: await aThread(context) }),
        ...(body !== undefined && { body }),
      });
      expect(second.text).toBe(first.text);
      if (body === undefined) return;
      const headers = { 'idempotency-key': randomUUID() };
      const params = hasThread ? { params: await aThread(context) } : {};
      await context.call(operation, { ...params, body, headers });
      const other = await context.call(operation, {
        ...params,
        body: { ...(body as object), metadata: { b: 2 } },
        headers,
      });
      expect(other.status).toBe(422);
      expect(other.body.detail).toContain('idempotency-key');
    },
  }),
  fieldCase({
    operations: ['updateThreadState'],
    field: FIELD,
    promise: 'asked for again with its key, the same is answered and no second checkpoint written',
    run: async (context) => {
      const { threads } = context.direct.client;
      const { thread_id } = await threads.create({ graphId: 'echo' });
      const body = { values: { messages: [{ type: 'human', content: 'once' }] }, as_node: 'echo' };
      const [first, second] = await askTwice(context, { params: { thread_id }, body });
      expect(second.text).toBe(first.text);
      expect((await threads.getHistory(thread_id)).length).toBe(1);
      expect((await threads.getState<{ messages: unknown[] }>(thread_id)).values.messages).toHaveLength(1);
    },
  }),
  fieldCase({
    operations: ['sendCommand'],
    field: FIELD,
    promise: 'asked for again with its key, a command starts no second run: the answer names the first one',
    run: async (context) => {
      const params = { thread_id: randomUUID() };
      const body = { id: 1, method: 'run.start', params: aRun };
      const [first, second] = await askTwice(context, { params, body });
      expect(second.body.result.run_id).toBe(first.body.result.run_id);
      expect(await context.direct.client.runs.list(params.thread_id)).toHaveLength(1);
    },
  }),
];
