import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityContext, statusCase } from '../framework/index.ts';

const BY_ID = ['getThreadState', 'getThreadStateAtCheckpointId'];
const human = (content: string) => ({ messages: [{ type: 'human', content, id: content }] });

interface Echoed {
  thread_id: string;
  /** Checkpoint ids, oldest first. */
  checkpoints: string[];
}

/** Creates a thread of the echo graph with a checkpoint for each text. */
async function echoed({ direct }: ParityContext, ...texts: string[]): Promise<Echoed> {
  const { thread_id } = await direct.client.threads.create({ graphId: 'echo' });
  const checkpoints: string[] = [];
  for (const text of texts) {
    const body = { values: human(text), as_node: 'echo' };
    checkpoints.push((await direct.call('updateThreadState', { params: { thread_id }, body })).body.checkpoint_id);
  }
  return { thread_id, checkpoints };
}

/** Creates a thread whose inner graph waits for an answer, and returns where. */
async function consulted({ direct }: ParityContext) {
  const { thread_id } = await direct.client.threads.create();
  await direct.client.runs.wait(thread_id, 'consult', { input: { topic: 'tea' } });
  const { body } = await direct.call('getThreadState', { params: { thread_id } });
  const { checkpoint_ns } = body.tasks[0].checkpoint;
  return { thread_id, checkpoint_id: body.checkpoint_id as string, checkpoint_ns: checkpoint_ns as string };
}

const contents = (state: { values: { messages: { content: string }[] } }) =>
  state.values.messages.map(({ content }) => content);

/** Reads state by the operation under test. */
async function read(context: ParityContext, thread_id: string, checkpoint_id: string, query: object) {
  const params = { thread_id, ...(context.operation === 'getThreadStateAtCheckpointId' && { checkpoint_id }) };
  const answer = await context.call(context.operation, { params, query: query as Record<string, unknown> });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

async function at(context: ParityContext, thread_id: string, body: object) {
  return (
    await context.call('getThreadStateAtCheckpoint', { params: { thread_id }, body: { checkpoint: {}, ...body } })
  ).body;
}

async function history(context: ParityContext, thread_id: string, asked: object) {
  const isGet = context.operation === 'getThreadHistory';
  const answer = await context.call(context.operation, {
    params: { thread_id },
    ...(isGet ? { query: asked as Record<string, unknown> } : { body: asked }),
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body as { checkpoint_id: string; metadata: { source: string }; values: { advice?: string } }[];
}

async function update(context: ParityContext, thread_id: string, body: object) {
  const answer = await context.call('updateThreadState', { params: { thread_id }, body });
  expect(answer.status, answer.text).toBe(200);
  return (await context.direct.call('getThreadState', { params: { thread_id } })).body;
}

/** The ways a checkpoint is named in a body; each shows the fields it uses. */
const NAMED: { fields: string[]; name: (id: string) => object }[] = [
  { fields: ['checkpoint', 'checkpoint.checkpoint_id'], name: (checkpoint_id) => ({ checkpoint_id }) },
  { fields: ['checkpoint.checkpoint_map'], name: (id) => ({ checkpoint_map: { '': id } }) },
];

/** Returns cases for each field of each way to name the first of two checkpoints. */
function placeCases(
  operation: string,
  promise: string,
  run: (c: ParityContext, e: Echoed, checkpoint: object) => unknown,
) {
  return NAMED.flatMap(({ fields, name }) =>
    fields.map((field) =>
      fieldCase({
        operations: [operation],
        field: `body.${field}`,
        promise,
        run: async (context) => {
          const thread = await echoed(context, 'one', 'two');
          await run(context, thread, name(thread.checkpoints[0]!));
        },
      }),
    ),
  );
}

/** Returns a case in which another thread's checkpoint is refused. */
function foreignCase(operation: string, body: object = {}) {
  return fieldCase({
    operations: [operation],
    field: 'body.checkpoint.thread_id',
    promise: 'a checkpoint of another thread is refused',
    run: async (context) => {
      const { thread_id } = await echoed(context, 'one');
      const checkpoint = { thread_id: randomUUID() };
      const answer = await context.call(operation, { params: { thread_id }, body: { ...body, checkpoint } });
      expect(answer.status).toBe(422);
    },
  });
}

export const cases = [
  fieldCase({
    operations: BY_ID,
    field: 'query.subgraphs',
    promise: 'the state of an inner graph that waits is told with it, its question and the answers it takes',
    run: async (context) => {
      const { thread_id, checkpoint_id } = await consulted(context);
      const state = await read(context, thread_id, checkpoint_id, { subgraphs: 'true' });
      const [task] = state.tasks;
      expect(task).toMatchObject({ state: { values: { advice: 'a draft on tea' } } });
      expect(task.interrupts[0]).toMatchObject({
        value: { question: 'What of tea?' },
        response_schema: { properties: { advice: { type: 'string' } } },
      });
    },
  }),
  fieldCase({
    operations: BY_ID,
    field: 'query.select',
    promise: 'the state has these fields alone',
    run: async (context) => {
      const { thread_id, checkpoints } = await echoed(context, 'one');
      expect(await read(context, thread_id, checkpoints[0]!, { select: ['next', 'values.messages'] })).toEqual({
        next: [],
        values: { messages: [expect.objectContaining({ content: 'one' })] },
      });
    },
  }),
  ...placeCases(
    'getThreadStateAtCheckpoint',
    'the state is that of this checkpoint',
    async (context, thread, checkpoint) =>
      expect(await at(context, thread.thread_id, { checkpoint })).toMatchObject({
        values: { messages: [{ content: 'one' }] },
      }),
  ),
  foreignCase('getThreadStateAtCheckpoint'),
  fieldCase({
    operations: ['getThreadStateAtCheckpoint'],
    field: 'body.checkpoint.checkpoint_ns',
    promise: 'the state is that of the inner graph',
    run: async (context) => {
      const { thread_id, checkpoint_ns } = await consulted(context);
      const state = await at(context, thread_id, { checkpoint: { checkpoint_ns } });
      expect(state).toMatchObject({ values: { advice: 'a draft on tea' }, next: ['expert'] });
    },
  }),
  fieldCase({
    operations: ['getThreadStateAtCheckpoint'],
    field: 'body.subgraphs',
    promise: 'the state of an inner graph that waits is told with it',
    run: async (context) => {
      const { thread_id } = await consulted(context);
      const { tasks } = await at(context, thread_id, { subgraphs: true });
      expect(tasks).toMatchObject([{ state: { values: { advice: 'a draft on tea' } } }]);
    },
  }),
  fieldCase({
    operations: ['getThreadStateAtCheckpoint'],
    field: 'body.select',
    promise: 'the state has these fields alone',
    run: async (context) => {
      const { thread_id } = await echoed(context, 'one');
      expect(await at(context, thread_id, { select: ['next'] })).toEqual({ next: [] });
    },
  }),
  fieldCase({
    operations: ['updateThreadState'],
    field: 'body.values',
    promise: 'these values are written',
    run: async (context) => {
      const { thread_id } = await echoed(context, 'one');
      expect(contents(await update(context, thread_id, { values: human('two'), as_node: 'echo' }))).toEqual([
        'one',
        'two',
      ]);
    },
  }),
  fieldCase({
    operations: ['updateThreadState'],
    field: 'body.as_node',
    promise: 'the graph goes on behind this node',
    run: async (context) => {
      const { thread_id } = await context.direct.client.threads.create({ graphId: 'approval' });
      const { next, metadata } = await update(context, thread_id, { values: { log: ['x'] }, as_node: 'ask' });
      expect(next).toEqual(['act']);
      expect(metadata.writes).toEqual({ ask: { log: ['x'] } });
    },
  }),
  fieldCase({
    operations: ['updateThreadState'],
    field: 'body.checkpoint_id',
    promise: 'the thread is forked from this checkpoint',
    run: async (context) => {
      const { thread_id, checkpoints } = await echoed(context, 'one', 'two');
      const body = { values: human('other'), as_node: 'echo', checkpoint_id: checkpoints[0] };
      expect(contents(await update(context, thread_id, body))).toEqual(['one', 'other']);
    },
  }),
  ...placeCases(
    'updateThreadState',
    'the thread is forked from this checkpoint',
    async (context, thread, checkpoint) => {
      const body = { values: human('other'), as_node: 'echo', checkpoint };
      expect(contents(await update(context, thread.thread_id, body))).toEqual(['one', 'other']);
    },
  ),
  foreignCase('updateThreadState', { values: human('x'), as_node: 'echo' }),
  fieldCase({
    operations: ['updateThreadState'],
    field: 'body.checkpoint.checkpoint_ns',
    promise: 'the state of the inner graph is written',
    run: async (context) => {
      const { thread_id, checkpoint_ns } = await consulted(context);
      const body = { values: { advice: 'written' }, as_node: 'draft', checkpoint: { checkpoint_ns } };
      const answer = await context.call('updateThreadState', { params: { thread_id }, body });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.checkpoint.checkpoint_ns).toBe(checkpoint_ns);
      const place = { params: { thread_id }, body: { checkpoint: { checkpoint_ns } } };
      const inner = await context.direct.call('getThreadStateAtCheckpoint', place);
      expect(inner.body).toMatchObject({ values: { advice: 'written' }, next: ['expert'] });
    },
  }),
  ...['query', 'body'].map((place) =>
    fieldCase({
      operations: [place === 'query' ? 'getThreadHistory' : 'searchThreadHistory'],
      field: `${place}.limit`,
      promise: 'so many states are told, newest first; one unless asked for more',
      run: async (context) => {
        const { thread_id, checkpoints } = await echoed(context, 'one', 'two', 'three');
        const states = await history(context, thread_id, { limit: 2 });
        expect(states.map((state) => state.checkpoint_id)).toEqual([checkpoints[2], checkpoints[1]]);
      },
    }),
  ),
  fieldCase({
    operations: ['getThreadHistory'],
    field: 'query.before',
    promise: 'only states older than this one are told',
    run: async (context) => {
      const { thread_id, checkpoints } = await echoed(context, 'one', 'two');
      const [state] = await history(context, thread_id, { before: checkpoints[1] });
      expect(state?.checkpoint_id).toBe(checkpoints[0]);
    },
  }),
  fieldCase({
    operations: ['searchThreadHistory'],
    field: 'body.before',
    promise: 'only states older than this one are told, however it is named',
    run: async (context) => {
      const { thread_id, checkpoints } = await echoed(context, 'one', 'two');
      const [, checkpoint_id] = checkpoints;
      for (const before of [checkpoint_id, { checkpoint_id }, { configurable: { checkpoint_id } }]) {
        const [state] = await history(context, thread_id, { before });
        expect(state?.checkpoint_id).toBe(checkpoints[0]);
      }
    },
  }),
  fieldCase({
    operations: ['searchThreadHistory'],
    field: 'body.metadata',
    promise: 'only states whose metadata holds this are told',
    run: async (context) => {
      const { direct } = context;
      const { thread_id } = await direct.client.threads.create();
      await direct.client.runs.wait(thread_id, 'echo', { input: human('hi') });
      const states = await history(context, thread_id, { limit: 10, metadata: { source: 'input' } });
      expect(states.map(({ metadata }) => metadata.source)).toEqual(['input']);
    },
  }),
  ...placeCases(
    'searchThreadHistory',
    'the history is that of this checkpoint',
    async (context, thread, checkpoint) => {
      const [state] = await history(context, thread.thread_id, { checkpoint });
      expect(state?.checkpoint_id).toBe(thread.checkpoints[0]);
    },
  ),
  foreignCase('searchThreadHistory'),
  fieldCase({
    operations: ['searchThreadHistory'],
    field: 'body.checkpoint.checkpoint_ns',
    promise: 'the history is that of the inner graph',
    run: async (context) => {
      const { thread_id, checkpoint_ns } = await consulted(context);
      const [state] = await history(context, thread_id, { checkpoint: { checkpoint_ns } });
      expect(state?.values).toMatchObject({ advice: 'a draft on tea' });
    },
  }),
  ...(['query', 'body'] as const).map((place) =>
    fieldCase({
      operations: [place === 'query' ? 'getThreadHistory' : 'searchThreadHistory'],
      field: `${place}.select`,
      promise: 'the states have these fields alone',
      run: async (context) => {
        const { thread_id } = await echoed(context, 'one');
        expect(await history(context, thread_id, { select: ['next', 'values.messages'] })).toEqual([
          { next: [], values: { messages: [expect.objectContaining({ content: 'one' })] } },
        ]);
      },
    }),
  ),
  statusCase({
    operation: 'updateThreadState',
    status: 400,
    promise: 'a node the graph has not is named',
    run: async (context) => {
      const { thread_id } = await echoed(context);
      return context.call('updateThreadState', { params: { thread_id }, body: { values: {}, as_node: 'zap' } });
    },
  }),
  statusCase({
    operation: 'updateThreadState',
    status: 409,
    promise: 'a thread with a run in flight is not written',
    run: async (context) => {
      const { thread_id } = await echoed(context);
      await context.direct.client.runs.create(thread_id, 'echo', { input: {}, afterSeconds: 600 });
      return context.call('updateThreadState', {
        params: { thread_id },
        body: { values: human('x'), as_node: 'echo' },
      });
    },
  }),
];
