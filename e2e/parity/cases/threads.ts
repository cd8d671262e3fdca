import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { expect } from 'vitest';
import { fieldCase, type ParityContext, statusCase } from '../framework/index.ts';

const CHANGES = ['createThread', 'patchThread'];
const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });

/** Creates a thread, whatever the operation under test. */
async function existing({ direct }: ParityContext, body: object = {}): Promise<string> {
  return (await direct.call('createThread', { body })).body.thread_id;
}

/** Creates or changes a thread by the operation under test, and returns it with its ttl. */
async function made(context: ParityContext, body: object, before: object = {}) {
  const params: Record<string, string> =
    context.operation === 'patchThread' ? { thread_id: await existing(context, before) } : {};
  const { status, text, body: thread } = await context.call(context.operation, { params, body });
  expect(status, text).toBe(200);
  const { thread_id } = thread;
  return (await context.direct.call('getThread', { params: { thread_id }, query: { include: 'ttl' } })).body;
}

async function withState(context: ParityContext, threadId: string, text: string): Promise<void> {
  await context.direct.client.threads.updateState(threadId, { values: human(text), asNode: 'echo' });
}

/** A second, in minutes. */
const A_MOMENT = 1 / 60;

/** Resolves when threads are deleted that were created now with a ttl of a second. */
async function waitUntilOthersExpired(context: ParityContext): Promise<void> {
  const thread_id = await existing(context, { ttl: { strategy: 'delete', ttl: A_MOMENT } });
  const isGone = async () => (await context.direct.call('getThread', { params: { thread_id } })).status === 404;
  await waitFor(isGone, { what: 'another thread to expire' });
}

const superstep = (update: object) => ({ graph_id: 'approval', supersteps: [{ updates: [update] }] });

/** Returns the state of a thread created with one superstep. */
async function stateOf(context: ParityContext, body: object) {
  const { status, text, body: thread } = await context.call('createThread', { body });
  expect(status, text).toBe(200);
  return (await context.direct.call('getThreadState', { params: { thread_id: thread.thread_id } })).body;
}

export const cases = [
  fieldCase({
    operations: ['createThread'],
    field: 'body.thread_id',
    promise: 'the thread gets this id',
    run: async (context) => {
      const thread_id = randomUUID();
      expect(await made(context, { thread_id })).toMatchObject({ thread_id });
    },
  }),
  fieldCase({
    operations: ['createThread'],
    field: 'body.graph_id',
    promise: 'the thread belongs to this graph before it ever ran',
    run: async (context) => {
      expect((await made(context, { graph_id: 'echo' })).metadata).toEqual({ graph_id: 'echo' });
    },
  }),
  fieldCase({
    operations: CHANGES,
    field: 'body.metadata',
    promise: 'metadata is kept; a change is merged key by key',
    run: async (context) => {
      const thread = await made(context, { metadata: { a: 2, b: null } }, { metadata: { a: 1, c: 3 } });
      expect(thread.metadata).toMatchObject({ a: 2, b: null });
      if (context.operation === 'patchThread') expect(thread.metadata.c).toBe(3);
    },
  }),
  fieldCase({
    operations: ['createThread'],
    field: 'body.if_exists',
    promise: 'a thread that is there is answered as it is',
    run: async (context) => {
      const thread_id = await existing(context, { metadata: { first: true } });
      const body = { thread_id, metadata: { second: true }, if_exists: 'do_nothing' };
      expect((await context.call('createThread', { body })).body).toMatchObject({
        thread_id,
        metadata: { first: true },
      });
    },
  }),
  ...['body.ttl', 'body.ttl.ttl'].map((field) =>
    fieldCase({
      operations: CHANGES,
      field,
      promise: 'the thread is deleted when its time is over',
      run: async (context) => {
        const { thread_id } = await made(context, { metadata: {}, ttl: { strategy: 'delete', ttl: A_MOMENT } });
        await waitUntilOthersExpired(context);
        expect((await context.direct.call('getThread', { params: { thread_id } })).status).toBe(404);
      },
    }),
  ),
  fieldCase({
    operations: CHANGES,
    field: 'body.ttl.strategy',
    promise: 'the thread loses its past when its time is over, and is kept',
    run: async (context) => {
      const steps = ['one', 'two'].map((text) => ({ updates: [{ values: human(text), as_node: 'echo' }] }));
      const state = { graph_id: 'echo', supersteps: steps };
      const ttl = { strategy: 'keep_latest', ttl: A_MOMENT };
      const isNew = context.operation === 'createThread';
      const { thread_id } = await made(context, { metadata: {}, ttl, ...(isNew && state) }, state);
      await waitUntilOthersExpired(context);
      const params = { thread_id };
      expect((await context.direct.call('getThread', { params })).status).toBe(200);
      const { body: history } = await context.direct.call('getThreadHistory', { params, query: { limit: 9 } });
      expect(history).toMatchObject([{ values: { messages: [{ content: 'one' }, { content: 'two' }] } }]);
    },
  }),
  ...['body.supersteps', 'body.supersteps[].updates[].values'].map((field) =>
    fieldCase({
      operations: ['createThread'],
      field,
      promise: 'the first state is built of these values',
      run: async (context) => {
        const state = await stateOf(context, superstep({ values: { log: ['before'] }, as_node: 'prepare' }));
        expect(state.values).toMatchObject({ log: ['before'] });
      },
    }),
  ),
  fieldCase({
    operations: ['createThread'],
    field: 'body.supersteps[].updates',
    promise: 'several nodes may write in one superstep',
    run: async (context) => {
      const updates = ['prepare', 'act'].map((as_node) => ({ values: { log: [as_node] }, as_node }));
      const state = await stateOf(context, { graph_id: 'approval', supersteps: [{ updates }] });
      expect([...state.values.log].sort()).toEqual(['act', 'prepare']);
    },
  }),
  fieldCase({
    operations: ['createThread'],
    field: 'body.supersteps[].updates[].as_node',
    promise: 'the state goes on behind this node',
    run: async (context) => {
      const state = await stateOf(context, superstep({ values: { log: ['x'] }, as_node: 'prepare' }));
      expect(state.next).toEqual(['ask']);
    },
  }),
  ...['command', 'command.update', 'command.goto'].map((field) =>
    fieldCase({
      operations: ['createThread'],
      field: `body.supersteps[].updates[].${field}`,
      promise: 'a command updates the state and says what comes next',
      run: async (context) => {
        const command = { update: { log: ['by command'] }, goto: 'act' };
        const state = await stateOf(context, superstep({ command, as_node: 'prepare' }));
        expect(state.values).toMatchObject({ log: ['by command'] });
        expect(state.next).toContain('act');
      },
    }),
  ),
  fieldCase({
    operations: ['createThread'],
    field: 'body.supersteps[].updates[].command.resume',
    promise: 'an answer to nothing is refused',
    run: async (context) => {
      const body = superstep({ command: { resume: 'yes', update: { log: ['x'] } }, as_node: 'prepare' });
      expect((await context.call('createThread', { body })).status).toBe(422);
    },
  }),
  fieldCase({
    operations: ['getThread'],
    field: 'query.include',
    promise: 'the ttl is told when it is asked for',
    run: async (context) => {
      const thread_id = await existing(context, { ttl: { ttl: 60 } });
      const { body } = await context.call('getThread', { params: { thread_id }, query: { include: 'other,ttl' } });
      expect(body.ttl).toMatchObject({ strategy: 'delete', ttl_minutes: 60 });
    },
  }),
  fieldCase({
    operations: ['patchThread'],
    field: 'header.prefer',
    promise: 'nothing is answered when nothing is wanted',
    run: async (context) => {
      const params = { thread_id: await existing(context) };
      const headers = { prefer: 'return=minimal' };
      expect((await context.call('patchThread', { params, headers, body: { metadata: { a: 1 } } })).status).toBe(204);
    },
  }),
  fieldCase({
    operations: ['pruneThreads'],
    field: 'body.thread_ids',
    promise: 'these threads are pruned',
    run: async (context) => {
      const ids = [await existing(context), await existing(context)];
      const { body } = await context.call('pruneThreads', { body: { thread_ids: [...ids, randomUUID()] } });
      expect(body).toEqual({ pruned_count: 2 });
    },
  }),
  fieldCase({
    operations: ['pruneThreads'],
    field: 'body.strategy',
    promise: 'the past is removed and the newest state is kept',
    run: async (context) => {
      const thread_id = await existing(context, { graph_id: 'echo' });
      for (const text of ['one', 'two']) await withState(context, thread_id, text);
      await context.call('pruneThreads', { body: { thread_ids: [thread_id], strategy: 'keep_latest' } });
      const request = { params: { thread_id }, query: { limit: 9 } };
      const { status, body: history } = await context.direct.call('getThreadHistory', request);
      expect(status).toBe(200);
      expect(history).toMatchObject([{ values: { messages: [{ content: 'one' }, { content: 'two' }] } }]);
    },
  }),
  statusCase({
    operation: 'createThread',
    status: 400,
    promise: 'supersteps as a node the graph has not are named, and nothing is made',
    run: async (context) => {
      const thread_id = randomUUID();
      const answer = await context.call('createThread', {
        body: { thread_id, ...superstep({ values: {}, as_node: 'zap' }) },
      });
      expect(answer.body.metadata).toEqual({ thread_id, superstep: 0, as_node: 'zap' });
      expect((await context.call('getThread', { params: { thread_id } })).status).toBe(404);
      return answer;
    },
  }),
  statusCase({
    operation: 'createThread',
    status: 409,
    promise: 'an id that is taken is refused',
    run: async (context) => context.call('createThread', { body: { thread_id: await existing(context) } }),
  }),
  statusCase({
    operation: 'deleteThread',
    status: 204,
    promise: 'a thread goes with its state, its history, its runs and its crons',
    run: async (context) => {
      const { call, client } = context;
      const params = { thread_id: await existing(context) };
      const { run_id } = await client.runs.create(params.thread_id, 'echo', { input: human('hi') });
      await client.runs.join(params.thread_id, run_id);
      const { cron_id } = await client.crons.createForThread(params.thread_id, 'echo', { schedule: '@yearly' });
      const answer = await call('deleteThread', { params });
      const left = await Promise.all([
        call('getThread', { params }),
        call('getThreadState', { params }),
        call('getThreadHistory', { params }),
        call('getRun', { params: { ...params, run_id } }),
        call('getStatelessRun', { params: { run_id } }),
        call('getCron', { params: { cron_id } }),
      ]);
      expect(left.map(({ status }) => status)).toEqual(left.map(() => 404));
      return answer;
    },
  }),
  statusCase({
    operation: 'patchThread',
    status: 204,
    promise: 'nothing is answered when nothing is wanted',
    run: async (context) =>
      context.call('patchThread', {
        params: { thread_id: await existing(context) },
        body: {},
        headers: { prefer: 'return=minimal' },
      }),
  }),
  statusCase({
    operation: 'copyThread',
    status: 200,
    promise: 'a copy has the whole history under a new id and is idle',
    run: async (context) => {
      const source = await existing(context, { graph_id: 'echo' });
      for (const text of ['one', 'two']) await withState(context, source, text);
      const copy = await context.call('copyThread', { params: { thread_id: source } });
      expect(copy.body).toMatchObject({
        status: 'idle',
        values: { messages: [{ content: 'one' }, { content: 'two' }] },
      });
      expect(await context.client.threads.getHistory(copy.body.thread_id)).toHaveLength(2);
      return copy;
    },
  }),
  statusCase({
    operation: 'copyThread',
    status: 409,
    promise: 'what is not there cannot be copied',
    run: (context) => context.call('copyThread', { params: { thread_id: randomUUID() } }),
  }),
  statusCase({
    operation: 'getThreadStorage',
    status: 200,
    promise: 'the checkpoints of a thread are counted and measured',
    run: async (context) => {
      const thread_id = await existing(context, { graph_id: 'echo' });
      await withState(context, thread_id, 'one');
      const answer = await context.call('getThreadStorage', { params: { thread_id } });
      expect(answer.body).toMatchObject({
        checkpoints: { count: 1 },
        channel_values: { by_channel: { messages: {} } },
      });
      return answer;
    },
  }),
];
