import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext, shownElsewhere, statusCase } from '../../framework/index.ts';
import { createLongRun, createPendingRun, newThread } from './run-fixtures.ts';

export const cases: ParityCase[] = [
  statusCase({
    operation: 'cancelRun',
    status: 202,
    promise: 'a run that waits is interrupted, and its thread idle',
    run: async (context) => {
      const run = await createPendingRun(context);
      const answer = await context.call('cancelRun', { params: run });
      expect(await statusOf(context, run)).toBe('interrupted');
      expect((await context.direct.client.threads.get(run.thread_id)).status).toBe('idle');
      return answer;
    },
  }),
  fieldCase({
    operations: ['cancelRun'],
    field: 'query.wait',
    promise: 'the answer can wait until the run has ended, with its last values; run and thread say why',
    run: async (context) => {
      const run = await createLongRun(context);
      const answer = await context.call('cancelRun', { params: run, query: { wait: '1' } });
      expect(answer.status).toBe(200);
      expect(answer.body).toMatchObject({ name: 'long', done: expect.any(Array) });
      const { body } = await context.direct.call('getRun', { params: run });
      const reason = 'interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel';
      expect(body).toMatchObject({ status: 'interrupted', cancel_reason: reason });
      const thread = await context.direct.call('getThread', { params: { thread_id: run.thread_id } });
      expect(thread.body).toMatchObject({
        status: 'interrupted',
        error: { error: 'UserInterrupt', message: reason },
      });
    },
  }),
  fieldCase({
    operations: ['cancelRun'],
    field: 'query.action',
    promise: 'a run that is rolled back is gone with its checkpoints',
    run: async (context) => {
      const run = await createLongRun(context);
      const answer = await context.call('cancelRun', { params: run, query: { wait: 'true', action: 'rollback' } });
      expect(answer.body).toEqual({});
      expect((await context.direct.call('getRun', { params: run })).status).toBe(404);
      expect(await context.direct.client.threads.getHistory(run.thread_id)).toEqual([]);
    },
  }),
  fieldCase({
    operations: ['cancelRuns'],
    field: 'query.action',
    promise: 'several runs can be rolled back',
    run: async (context) => {
      const run = await createLongRun(context);
      const body = { thread_id: run.thread_id, run_ids: [run.run_id] };
      expect((await context.call('cancelRuns', { body, query: { action: 'rollback' } })).status).toBe(204);
      // It may be gone before it could be joined.
      const ended = await waitFor(
        async () => {
          const { status, body: found } = await context.direct.call('getRun', { params: run });
          if (status === 404) return 'gone';
          const { status: state } = found as { status: string };
          return ['pending', 'running'].includes(state) ? null : state;
        },
        { what: 'the end of the run that is rolled back' },
      );
      expect(ended).toBe('gone');
    },
  }),
  ...['body.thread_id', 'body.run_ids'].map((field) =>
    fieldCase({
      operations: ['cancelRuns'],
      field,
      promise: 'runs of a thread are cancelled by their ids, and no others',
      run: async (context) => {
        const run = await createPendingRun(context);
        const other = await createPendingRun(context, run.thread_id);
        const body = { thread_id: run.thread_id, run_ids: [run.run_id] };
        expect((await context.call('cancelRuns', { body })).status).toBe(204);
        expect(await statusOf(context, run)).toBe('interrupted');
        expect(await statusOf(context, other)).toBe('pending');
      },
    }),
  ),
  fieldCase({
    operations: ['cancelRuns'],
    field: 'body.status',
    promise: 'runs of a thread are cancelled by their status',
    run: async (context) => {
      const run = await createPendingRun(context);
      const body = { thread_id: run.thread_id, status: 'pending' };
      expect((await context.call('cancelRuns', { body })).status).toBe(204);
      expect(await statusOf(context, run)).toBe('interrupted');
    },
  }),
  fieldCase({
    operations: ['joinRun'],
    field: 'query.cancel_on_disconnect',
    promise: 'a run can be cancelled when who joined it leaves',
    run: async (context) => {
      const run = await createLongRun(context, { seconds: 3 });
      const leaving = new AbortController();
      await context.open('joinRun', { params: run, query: { cancel_on_disconnect: '1' }, signal: leaving.signal });
      leaving.abort();
      await context.direct.client.runs.join(run.thread_id, run.run_id);
      expect(await statusOf(context, run)).toBe('interrupted');
    },
  }),
  ...['cancelRun', 'cancelRuns'].map((operation) =>
    shownElsewhere({
      operation,
      status: 409,
      promise: 'a cancel that meets a deadlock again and again is a conflict, not a fault of the service',
      test: 'services/agent-api/src/runs/run-service.test.ts',
    }),
  ),
  statusCase({
    operation: 'cancelRuns',
    status: 404,
    promise: 'nothing to cancel is told',
    run: async (context) =>
      context.call('cancelRuns', { body: { thread_id: await newThread(context), run_ids: [randomUUID()] } }),
  }),
];

async function statusOf({ direct }: ParityContext, run: { thread_id: string; run_id: string }) {
  return (await direct.client.runs.get(run.thread_id, run.run_id)).status;
}
