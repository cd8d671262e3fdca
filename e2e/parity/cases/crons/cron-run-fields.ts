import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext } from '../../framework/index.ts';
import { createPendingRun } from '../runs/run-fixtures.ts';
import {
  CREATIONS,
  type Cron,
  eventsOf,
  type FiredRun,
  fireCron,
  runsOf,
  UPDATES,
  waitUntilOthersFired,
  YEARLY,
} from './cron-fixtures.ts';

interface Given {
  field: string;
  body: object;
  promise: string;
  see: (fired: FiredRun, context: ParityContext) => unknown;
}

const names = async (run: FiredRun, context: ParityContext) =>
  new Set((await eventsOf(context, run)).map(({ event }) => event));

async function checkpointsOf({ direct }: ParityContext, { threadId, run }: FiredRun): Promise<unknown[]> {
  const query = { limit: 50 };
  const { body } = await direct.call('getThreadHistory', { params: { thread_id: threadId }, query });
  return body.filter(({ metadata }: { metadata: { run_id?: string } }) => metadata.run_id === run.run_id);
}

const CONFIG = { tags: ['mine'], configurable: { tone: 'polite' } };

/** Each field is given to a cron that fires, and seen in its first run. */
const GIVEN: Given[] = [
  {
    field: 'input',
    body: { input: { text: 'given' } },
    promise: 'its runs start with the input',
    see: ({ values }) => expect(values.text).toBe('given'),
  },
  {
    field: 'context',
    body: { context: { tone: 'polite' } },
    promise: 'its runs get the context',
    see: ({ values }) => expect(values.seen.context).toMatchObject({ tone: 'polite' }),
  },
  {
    field: 'interrupt_before',
    body: { interrupt_before: ['after'] },
    promise: 'its runs stop before the nodes named',
    see: ({ values }) => expect(values.trail).toEqual(['look']),
  },
  {
    field: 'interrupt_after',
    body: { interrupt_after: ['look'] },
    promise: 'its runs stop after the nodes named',
    see: ({ values }) => expect(values.trail).toEqual(['look']),
  },
  {
    field: 'stream_resumable',
    body: { stream_resumable: true },
    promise: 'the events of its runs are kept for those who come later',
    see: async (run, context) => expect(await names(run, context)).toContain('values'),
  },
  {
    field: 'stream_mode',
    body: { stream_mode: ['updates'], stream_resumable: true },
    promise: 'its runs emit these modes',
    see: async (run, context) => expect(await names(run, context)).toContain('updates'),
  },
  {
    field: 'stream_subgraphs',
    body: { assistant_id: 'family', stream_mode: ['updates'], stream_subgraphs: true, stream_resumable: true },
    promise: 'its runs emit what inner graphs do',
    see: async (run, context) => expect([...(await names(run, context))].join(' ')).toContain('updates|child:'),
  },
  ...(
    [
      ['durability', 'exit'],
      ['checkpoint_during', false],
    ] as const
  ).map(([field, value]) => ({
    field,
    body: { [field]: value },
    promise: 'its runs keep one checkpoint, at their end',
    see: async (run: FiredRun, context: ParityContext) => expect(await checkpointsOf(context, run)).toHaveLength(1),
  })),
  ...['config', 'config.tags'].map((field) => ({
    field,
    body: { config: CONFIG },
    promise: 'its runs have the tags',
    see: ({ values }: FiredRun) => expect(values.seen.tags).toContain('mine'),
  })),
  {
    field: 'config.configurable',
    body: { config: CONFIG },
    promise: 'its runs get the configurable values',
    see: ({ values }) => expect(values.seen.configurable).toMatchObject({ tone: 'polite' }),
  },
  {
    field: 'config.recursion_limit',
    body: { config: { ...CONFIG, recursion_limit: 1 } },
    promise: 'its runs fail when they take more steps than allowed',
    see: ({ values }) => expect(values).toMatchObject({ __error__: { error: 'GraphRecursionError' } }),
  },
];

const given = GIVEN.map(({ field, body, promise, see }) =>
  fieldCase({
    operations: [...CREATIONS, ...UPDATES],
    field: `body.${field}`,
    promise,
    // A change leaves out the assistant: the cron has it from the beginning.
    run: async (context) => {
      const { assistant_id, ...changed } = body as { assistant_id?: string };
      const isUpdate = UPDATES.includes(context.operation);
      await see(
        await (isUpdate ? fireCron(context, changed, assistant_id ? { assistant_id } : {}) : fireCron(context, body)),
        context,
      );
    },
  }),
);

export const cases: ParityCase[] = [
  ...given,
  fieldCase({
    operations: ['createThreadCron'],
    field: 'body.multitask_strategy',
    promise: 'a slot makes no run while the thread is busy, if it is to be refused then',
    run: async (context) => {
      const { thread_id } = await createPendingRun(context);
      const body = { assistant_id: 'mirror', schedule: '* * * * * *', multitask_strategy: 'reject' };
      const { status, text, body: cron } = await context.call('createThreadCron', { params: { thread_id }, body });
      expect(status, text).toBe(200);
      await expectNoRuns(context, cron);
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.multitask_strategy',
    promise: 'a slot makes no run from then on while the thread is busy, if it is to be refused then',
    run: async (context) => {
      const { thread_id } = await createPendingRun(context);
      const { body: cron } = await context.direct.call('createThreadCron', {
        params: { thread_id },
        body: { assistant_id: 'mirror', schedule: YEARLY },
      });
      const { status, text } = await context.call(context.operation, {
        params: { cron_id: cron.cron_id },
        body: { schedule: '* * * * * *', multitask_strategy: 'reject' },
      });
      expect(status, text).toBe(200);
      await expectNoRuns(context, cron);
    },
  }),
  fieldCase({
    operations: ['createCron'],
    field: 'body.multitask_strategy',
    promise: 'its runs have the strategy; each is on a thread of its own, which is never busy',
    run: async (context) => {
      const { run } = await fireCron(context, { multitask_strategy: 'reject' });
      expect(run.multitask_strategy).toBe('reject');
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.assistant_id',
    promise: 'its runs are of the assistant',
    run: async (context) => {
      const config = { tags: ['of the assistant'] };
      const { assistant_id } = await context.direct.client.assistants.create({ graphId: 'mirror', config });
      const { run, values } = await fireCron(context, { assistant_id });
      expect(run.assistant_id).toBe(assistant_id);
      expect(values.seen.tags).toContain('of the assistant');
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.metadata',
    promise: 'its runs carry the metadata',
    run: async (context) => {
      const { run } = await fireCron(context, { metadata: { team: 'blue' } });
      expect(run.metadata).toMatchObject({ team: 'blue' });
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.metadata',
    promise: 'metadata is merged, and its runs carry it',
    run: async (context) => {
      const { run } = await fireCron(context, { metadata: { b: 2 } }, { metadata: { a: 1, b: 1 } });
      expect(run.metadata).toMatchObject({ a: 1, b: 2 });
    },
  }),
];

/** Asserts that a cron that is due every second makes no run while others fire, and deletes it. */
async function expectNoRuns(context: ParityContext, cron: Cron): Promise<void> {
  await waitUntilOthersFired(context);
  const runs = await runsOf(context, cron);
  await context.direct.call('deleteCron', { params: { cron_id: cron.cron_id } });
  expect(runs).toEqual([]);
}
