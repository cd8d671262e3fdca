import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext, shownElsewhere, statusCase } from '../../framework/index.ts';
import { createEndedRun, createLongRun, createPendingRun, newThread } from './run-fixtures.ts';

export const cases: ParityCase[] = [
  fieldCase({
    operations: ['listRuns'],
    field: 'query.limit',
    promise: 'no more runs come than asked for, the newest first',
    run: async (context) => {
      const { threadId, runIds } = await threadWithRuns(context);
      expect(await listed(context, threadId, { limit: 2 })).toEqual([runIds[2], runIds[1]]);
    },
  }),
  fieldCase({
    operations: ['listRuns'],
    field: 'query.offset',
    promise: 'a page of runs comes',
    run: async (context) => {
      const { threadId, runIds } = await threadWithRuns(context);
      expect(await listed(context, threadId, { offset: 1 })).toEqual([runIds[1], runIds[0]]);
    },
  }),
  fieldCase({
    operations: ['listRuns'],
    field: 'query.status',
    promise: 'only runs of the status come',
    run: async (context) => {
      const { threadId, runIds } = await threadWithRuns(context);
      await context.direct.client.runs.cancel(threadId, runIds[1]!);
      expect(await listed(context, threadId, { status: 'interrupted' })).toEqual([runIds[1]]);
    },
  }),
  fieldCase({
    operations: ['listRuns'],
    field: 'query.select',
    promise: 'only the fields named come',
    run: async (context) => {
      const { threadId } = await threadWithRuns(context);
      const query = { select: ['status', 'cancel_reason'] };
      const { body } = await context.call('listRuns', { params: { thread_id: threadId }, query });
      expect(body[0]).toEqual({ status: 'pending', cancel_reason: null });
    },
  }),
  statusCase({
    operation: 'getRun',
    status: 200,
    promise: 'a run is answered by thread and id',
    run: async (context) => {
      const run = await createPendingRun(context);
      const answer = await context.call('getRun', { params: run });
      expect(answer.body).toMatchObject({ ...run, status: 'pending', metadata: { graph_id: 'mirror' } });
      return answer;
    },
  }),
  statusCase({
    operation: 'getStatelessRun',
    status: 200,
    promise: 'a run is answered by its id alone',
    run: async (context) => {
      const run = await createPendingRun(context);
      const answer = await context.call('getStatelessRun', { params: { run_id: run.run_id } });
      expect(answer.body).toMatchObject(run);
      return answer;
    },
  }),
  shownElsewhere({
    operation: 'joinRun',
    status: 503,
    promise: 'is refused with 503 and Retry-After while others fill the budget, and small ones are not',
    test: 'services/agent-api/test/large-results.test.ts',
  }),
  ...Object.entries({
    'that waits': createPendingRun,
    'under way': createLongRun,
    'that has ended': createEndedRun,
  }).map(([what, make]) =>
    statusCase({
      operation: 'deleteRun',
      status: 204,
      promise: `a run ${what} is gone when it is deleted, and its thread is free`,
      run: async (context) => {
        const run = await make(context);
        const answer = await context.call('deleteRun', { params: run });
        expect((await context.direct.call('getRun', { params: run })).status).toBe(404);
        const { thread_id } = run;
        const next = await context.direct.client.runs.wait(thread_id, 'mirror', { input: { text: 'next' } });
        expect(next).toMatchObject({ text: 'next', trail: expect.arrayContaining(['look', 'after']) });
        return answer;
      },
    }),
  ),
];

/** Creates a thread with three runs, oldest first, none of which has begun. */
async function threadWithRuns(context: ParityContext) {
  const threadId = await newThread(context);
  const runIds: string[] = [];
  for (let count = 0; count < 3; count += 1) runIds.push((await createPendingRun(context, threadId)).run_id);
  return { threadId, runIds };
}

async function listed({ call }: ParityContext, threadId: string, query: Record<string, unknown>): Promise<string[]> {
  const { body } = await call('listRuns', { params: { thread_id: threadId }, query });
  return body.map((run: { run_id: string }) => run.run_id);
}
