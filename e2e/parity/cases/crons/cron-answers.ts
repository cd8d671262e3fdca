import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type ParityCase, statusCase } from '../../framework/index.ts';
import { CREATIONS, createIdleCron, paramsOf, UPDATES, YEARLY } from './cron-fixtures.ts';

export const cases: ParityCase[] = [
  ...CREATIONS.map((operation) =>
    statusCase({
      operation,
      status: 400,
      promise: 'configurable and context exclude each other',
      run: async (context) =>
        context.call(operation, {
          params: await paramsOf(context),
          body: { assistant_id: 'echo', schedule: YEARLY, context: { a: 1 }, config: { configurable: { b: 1 } } },
        }),
    }),
  ),
  statusCase({
    operation: 'createCron',
    status: 404,
    promise: 'there has to be such an assistant',
    run: ({ call }) => call('createCron', { body: { assistant_id: randomUUID(), schedule: YEARLY } }),
  }),
  ...CREATIONS.map((operation) =>
    statusCase({
      operation,
      status: 422,
      promise: 'a schedule has five fields, or six',
      run: async (context) =>
        context.call(operation, {
          params: await paramsOf(context),
          body: { assistant_id: 'echo', schedule: '0 0 1 *' },
        }),
    }),
  ),
  statusCase({
    operation: 'createThreadCron',
    status: 422,
    promise: 'the thread of a cron is not deleted after a run',
    run: async (context) =>
      context.call('createThreadCron', {
        params: await paramsOf(context),
        body: { assistant_id: 'echo', schedule: YEARLY, on_run_completed: 'delete' },
      }),
  }),
  ...UPDATES.map((operation) =>
    statusCase({
      operation,
      status: 400,
      promise: 'an empty change is refused',
      run: async (context) => {
        const { cron_id } = await createIdleCron(context);
        return context.call(operation, { params: { cron_id }, body: {} });
      },
    }),
  ),
  ...['getCron', 'getCronAlias'].map((operation) =>
    statusCase({
      operation,
      status: 200,
      promise: 'answers the cron as it was made',
      run: async (context) => {
        const cron = await createIdleCron(context);
        const answer = await context.call(operation, { params: { cron_id: cron.cron_id } });
        expect(answer.body).toEqual(cron);
        return answer;
      },
    }),
  ),
  ...['deleteCron', 'deleteCronAlias'].map((operation) =>
    statusCase({
      operation,
      status: 204,
      promise: 'the cron is gone',
      run: async (context) => {
        const { cron_id } = await createIdleCron(context);
        const answer = await context.call(operation, { params: { cron_id } });
        expect((await context.direct.call('getCron', { params: { cron_id } })).status).toBe(404);
        return answer;
      },
    }),
  ),
];
