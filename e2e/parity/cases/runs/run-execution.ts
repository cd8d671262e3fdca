import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type ParityCase, type ParityContext, shownElsewhere } from '../../framework/index.ts';
import {
  ALL_OPERATIONS,
  callRunOperation,
  createPendingRun,
  DISCONNECTABLE,
  newThread,
  ON_THREAD,
  readRunLocation,
  recordOf,
  runFieldCases,
  runMirror,
  WITHOUT_THREAD,
} from './run-fixtures.ts';

/** Cases of when, where and how durably a run executes. */
export const cases: ParityCase[] = [
  ...runFieldCases({
    field: 'multitask_strategy',
    operations: ON_THREAD,
    promise: 'a run can be refused while the thread is busy',
    run: async (context) => {
      const { thread_id: threadId } = await createPendingRun(context);
      const body = { assistant_id: 'mirror', input: { text: 'hi' }, multitask_strategy: 'reject' };
      expect((await callRunOperation(context, body, { threadId })).status).toBe(409);
    },
  }),
  ...runFieldCases({
    field: 'multitask_strategy',
    operations: WITHOUT_THREAD,
    promise: 'the strategy is kept with the run, whose thread is its own and never busy',
    run: async (context) => {
      const { made } = await runMirror(context, { multitask_strategy: 'interrupt' });
      expect((await recordOf(context, made)).multitask_strategy).toBe('interrupt');
    },
  }),
  ...['if_not_exists', 'on_not_exist'].flatMap((field) =>
    runFieldCases({
      field,
      operations: ON_THREAD,
      promise: 'a run can make its thread',
      run: async (context) => {
        const threadId = randomUUID();
        await runMirror(context, { [field]: 'create' }, { threadId });
        expect((await context.direct.client.threads.get(threadId)).status).toBe('idle');
      },
    }),
  ),
  ...runFieldCases({
    field: 'after_seconds',
    promise: 'a run starts no sooner than asked',
    run: async (context) => {
      const { made } = await runMirror(context, { after_seconds: 0.3 });
      const { kwargs, created_at, updated_at } = await recordOf(context, made);
      expect(kwargs.config.configurable.__after_seconds__).toBe(0.3);
      expect(Date.parse(updated_at) - Date.parse(created_at)).toBeGreaterThanOrEqual(300);
    },
  }),
  ...runFieldCases({
    field: 'on_completion',
    operations: WITHOUT_THREAD,
    promise: 'the thread of a run without one can be kept',
    run: async (context) => {
      const { made } = await runMirror(context, { on_completion: 'keep' });
      const thread = await context.direct.call('getThread', { params: { thread_id: made.threadId } });
      expect(thread.body.values?.trail).toEqual(['look', 'after']);
    },
  }),
  ...(
    [
      ['durability', 'exit'],
      ['checkpoint_during', false],
    ] as const
  ).flatMap(([field, value]) =>
    runFieldCases({
      field,
      promise: 'checkpoints can be left out until the run ends',
      run: async (context) => {
        const { made } = await runMirror(context, { [field]: value, on_completion: 'keep' });
        expect(await context.direct.client.threads.getHistory(made.threadId, { limit: 9 })).toHaveLength(1);
      },
    }),
  ),
  ...(['langsmith_tracer', 'langsmith_tracer.project_name'] as const).flatMap((field) =>
    runFieldCases({
      field,
      promise: 'a run is answered with the project of its trace',
      run: async (context) => {
        const { made } = await runMirror(context, { langsmith_tracer: { project_name: 'mine' } });
        expect((await recordOf(context, made)).langsmith_session_name).toBe('mine');
      },
    }),
  ),
  ...runFieldCases({
    field: 'langsmith_tracer.example_id',
    promise: 'a run is answered with the example its trace refers to',
    run: async (context) => {
      const example_id = randomUUID();
      const { made } = await runMirror(context, { langsmith_tracer: { example_id } });
      expect((await recordOf(context, made)).kwargs.config.configurable.__langsmith_example_id__).toBe(example_id);
    },
  }),
  ...tracedElsewhere(),
  ...runFieldCases({
    field: 'checkpoint.thread_id',
    operations: ON_THREAD,
    promise: 'a checkpoint of another thread is refused',
    run: async (context) => {
      const checkpoint = { thread_id: randomUUID() };
      expect(
        (await callRunOperation(context, { assistant_id: 'mirror', input: { text: 'hi' }, checkpoint })).status,
      ).toBe(422);
    },
  }),
  ...checkpointCases(),
  ...runFieldCases({
    field: 'on_disconnect',
    operations: DISCONNECTABLE,
    promise: 'a run can be cancelled when its client leaves',
    run: async (context) => {
      const leaving = new AbortController();
      const threadId = ON_THREAD.includes(context.operation) ? await newThread(context) : undefined;
      const answer = await context.open(context.operation, {
        ...(threadId !== undefined && { params: { thread_id: threadId } }),
        body: { assistant_id: 'slow', input: { name: 'a', steps: 20, stepMs: 100 }, on_disconnect: 'cancel' },
        signal: leaving.signal,
      });
      const place = await readRunLocation(context, answer.headers);
      leaving.abort();
      await context.direct.call('joinRun', { params: { thread_id: place.threadId, run_id: place.runId } });
      const run = await context.direct.call('getStatelessRun', { params: { run_id: place.runId } });
      expect(run.body).toMatchObject({ status: 'interrupted', cancel_reason: 'the client disconnected' });
    },
  }),
];

/** Returns cases for traces, whose arrival only LangSmith sees. */
function tracedElsewhere(): ParityCase[] {
  return ['langsmith_tracer', 'langsmith_tracer.project_name', 'langsmith_tracer.example_id'].flatMap((field) =>
    ALL_OPERATIONS.map((operation) =>
      shownElsewhere({
        operation,
        field: `${operation === 'createRunBatch' ? 'body[]' : 'body'}.${field}`,
        promise: 'a run sends its trace to the requested LangSmith project and example',
        test: 'hosts/javascript/src/tracing.test.ts',
      }),
    ),
  );
}

function checkpointCases(): ParityCase[] {
  const starts: Record<string, (checkpointId: string) => Record<string, unknown>> = {
    checkpoint: (id) => ({ checkpoint: { checkpoint_id: id } }),
    checkpoint_id: (id) => ({ checkpoint_id: id }),
    'checkpoint.checkpoint_id': (id) => ({ checkpoint: { checkpoint_id: id } }),
    'checkpoint.checkpoint_map': (id) => ({ checkpoint: { checkpoint_map: { '': id } } }),
    // An id within a subgraph is none of the root graph; the map has that.
    'checkpoint.checkpoint_ns': (id) => ({
      checkpoint: { checkpoint_ns: 'child:1', checkpoint_id: 'of-the-child', checkpoint_map: { '': id } },
    }),
  };
  return Object.entries(starts).flatMap(([field, start]) =>
    runFieldCases({
      field,
      operations: ON_THREAD,
      promise: 'a run goes on from an earlier checkpoint',
      run: async (context) => {
        const { threadId, checkpointId } = await threadWithPast(context);
        await runMirror(context, start(checkpointId), { threadId });
        const state = await context.direct.client.threads.getState<{ trail: string[] }>(threadId);
        expect(state.values.trail).toEqual(['look', 'after', 'look', 'after']);
      },
    }),
  );
}

/** Creates a thread with two runs, and returns the checkpoint between them. */
async function threadWithPast(context: ParityContext): Promise<{ threadId: string; checkpointId: string }> {
  const { client } = context.direct;
  const threadId = await newThread(context);
  await client.runs.wait(threadId, 'mirror', { input: { text: 'one' } });
  const { checkpoint } = await client.threads.getState(threadId);
  await client.runs.wait(threadId, 'mirror', { input: { text: 'two' } });
  return { threadId, checkpointId: String(checkpoint.checkpoint_id) };
}
