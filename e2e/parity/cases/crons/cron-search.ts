import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext } from '../../framework/index.ts';
import { newThread } from './cron-fixtures.ts';

/** Creates three crons that only this case knows, distinguished by their schedules' days. */
async function three(context: ParityContext) {
  const metadata = { mark: randomUUID() };
  const thread_id = await newThread(context);
  const assistant = await context.direct.client.assistants.create({ graphId: 'echo' });
  const body = { assistant_id: 'echo', metadata };
  await context.direct.call('createCron', { body: { ...body, schedule: '0 0 3 1 *', enabled: false } });
  await context.direct.call('createCron', {
    body: { ...body, schedule: '0 0 1 1 *', assistant_id: assistant.assistant_id },
  });
  await context.direct.call('createThreadCron', { params: { thread_id }, body: { ...body, schedule: '0 0 2 1 *' } });
  return { metadata, thread_id, assistant_id: assistant.assistant_id };
}

async function daysFound(context: ParityContext, body: object): Promise<number[]> {
  const answer = await context.call('searchCrons', { body });
  return answer.body.map(({ schedule }: { schedule: string }) => Number(schedule.split(' ')[2]));
}

export const cases: ParityCase[] = [
  fieldCase({
    operations: ['searchCrons', 'countCrons'],
    field: 'body.metadata',
    promise: 'finds what has the metadata',
    run: async (context) => {
      const { metadata } = await three(context);
      if (context.operation === 'countCrons')
        expect((await context.call('countCrons', { body: { metadata } })).body).toBe(3);
      else expect(await daysFound(context, { metadata })).toEqual([2, 1, 3]);
    },
  }),
  ...(['assistant_id', 'thread_id'] as const).map((field) =>
    fieldCase({
      operations: ['searchCrons', 'countCrons'],
      field: `body.${field}`,
      promise: `finds what has the ${field}`,
      run: async (context) => {
        const made = await three(context);
        const body = { metadata: made.metadata, [field]: made[field] };
        if (context.operation === 'countCrons') expect((await context.call('countCrons', { body })).body).toBe(1);
        else expect(await daysFound(context, body)).toEqual([field === 'thread_id' ? 2 : 1]);
      },
    }),
  ),
  ...(['enabled', 'is_enabled'] as const).map((field) =>
    fieldCase({
      operations: ['searchCrons', 'countCrons'],
      field: `body.${field}`,
      promise: 'finds what is paused, or what is not',
      run: async (context) => {
        const { metadata } = await three(context);
        const body = { metadata, [field]: false };
        if (context.operation === 'countCrons') expect((await context.call('countCrons', { body })).body).toBe(1);
        else expect(await daysFound(context, body)).toEqual([3]);
      },
    }),
  ),
  ...Object.entries({
    limit: { sent: { limit: 2 }, found: [2, 1] },
    offset: { sent: { offset: 1 }, found: [1, 3] },
    sort_by: { sent: { sort_by: 'next_run_date' }, found: [3, 2, 1] },
    sort_order: { sent: { sort_order: 'asc' }, found: [3, 1, 2] },
  }).map(([field, { sent, found }]) =>
    fieldCase({
      operations: ['searchCrons'],
      field: `body.${field}`,
      promise: `${field} says which crons come, and in which order`,
      run: async (context) => {
        const { metadata } = await three(context);
        expect(await daysFound(context, { metadata, ...sent })).toEqual(found);
      },
    }),
  ),
  fieldCase({
    operations: ['searchCrons'],
    field: 'body.select',
    promise: 'answers only the fields selected',
    run: async (context) => {
      const { metadata } = await three(context);
      const answer = await context.call('searchCrons', {
        body: { metadata, enabled: false, select: ['schedule', 'is_enabled'] },
      });
      expect(answer.body).toEqual([{ schedule: '0 0 3 1 *', is_enabled: false }]);
    },
  }),
];
