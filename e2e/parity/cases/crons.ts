import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { fieldCase, type ParityContext, statusCase } from '../framework/index.ts';

const YEARLY = '0 0 1 1 *';
const CREATIONS = ['createCron', 'createThreadCron'];
const UPDATES = ['updateCron', 'updateCronAlias'];

async function newThread({ direct }: ParityContext): Promise<string> {
  return (await direct.client.threads.create()).thread_id;
}

/** A thread for the operation that wants one. */
async function paramsOf(context: ParityContext): Promise<Record<string, string>> {
  return context.operation === 'createThreadCron' ? { thread_id: await newThread(context) } : {};
}

/** Makes a cron by the operation under test. */
async function make(context: ParityContext, body: object) {
  const answer = await context.call(context.operation, {
    params: await paramsOf(context),
    body: { assistant_id: 'echo', schedule: YEARLY, ...body },
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** A cron that is there, whatever the operation under test. */
async function existing({ direct }: ParityContext, body: object = {}) {
  return (await direct.call('createCron', { body: { assistant_id: 'echo', schedule: YEARLY, ...body } })).body;
}

/** Changes a new cron by the operation under test. */
async function change(context: ParityContext, body: object, before: object = {}) {
  const { cron_id } = await existing(context, before);
  const answer = await context.call(context.operation, { params: { cron_id }, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Fields that its runs are created with: what a cron was given is what it holds. */
const PAYLOAD: Record<string, unknown> = {
  input: { n: 1 },
  context: { tone: 'x' },
  interrupt_before: ['prepare'],
  interrupt_after: '*',
  stream_mode: ['updates', 'custom'],
  stream_subgraphs: true,
  stream_resumable: true,
  durability: 'exit',
  multitask_strategy: 'reject',
  checkpoint_during: false,
};
const CONFIG: Record<string, unknown> = { tags: ['a'], recursion_limit: 7, configurable: { tone: 'x' } };

const payloadCases = Object.entries(PAYLOAD).map(([field, value]) =>
  fieldCase({
    operations: [...CREATIONS, ...UPDATES],
    field: `body.${field}`,
    promise: `${field} is what its runs are created with`,
    run: async (context) => {
      // Beside another field, so that a change has something left to do.
      const body = { metadata: {}, [field]: value };
      const cron = UPDATES.includes(context.operation) ? await change(context, body) : await make(context, body);
      expect(cron.payload[field]).toEqual(value);
    },
  }),
);

const configCases = ['', ...Object.keys(CONFIG)].map((key) =>
  fieldCase({
    operations: [...CREATIONS, ...UPDATES],
    field: key === '' ? 'body.config' : `body.config.${key}`,
    promise: 'config is what its runs are created with',
    run: async (context) => {
      const body = { metadata: {}, config: CONFIG };
      const cron = UPDATES.includes(context.operation) ? await change(context, body) : await make(context, body);
      expect(cron.payload.config).toMatchObject(key === '' ? CONFIG : { [key]: CONFIG[key] });
    },
  }),
);

const creationCases = [
  fieldCase({
    operations: CREATIONS,
    field: 'body.schedule',
    promise: 'it runs next when the schedule says',
    run: async (context) => {
      const cron = await make(context, { schedule: '30 4 2 3 *' });
      expect(cron.next_run_date).toMatch(/-03-02T04:30:00/);
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.timezone',
    promise: 'the schedule is in the time zone',
    run: async (context) => {
      const cron = await make(context, { schedule: '0 9 1 1 *', timezone: 'America/New_York' });
      expect(cron.next_run_date).toMatch(/-01-01T14:00:00/);
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.end_time',
    promise: 'nothing runs after the end',
    run: async (context) => {
      const cron = await make(context, { end_time: '2020-01-01T00:00:00Z' });
      expect(cron.next_run_date).toBeNull();
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.assistant_id',
    promise: 'it runs the assistant',
    run: async (context) => {
      const assistant = await context.direct.client.assistants.create({ graphId: 'echo' });
      const cron = await make(context, { assistant_id: assistant.assistant_id });
      expect(cron.assistant_id).toBe(assistant.assistant_id);
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.metadata',
    promise: 'metadata is kept and finds it',
    run: async (context) => {
      const metadata = { mark: randomUUID() };
      const { cron_id } = await make(context, { metadata });
      const found = await context.direct.client.crons.search({ metadata });
      expect(found.map((cron) => cron.cron_id)).toEqual([cron_id]);
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.webhook',
    promise: 'an address that may not be called is refused before there is a cron',
    run: async (context) => {
      const params = await paramsOf(context);
      const body = { assistant_id: 'echo', schedule: YEARLY, webhook: 'http://localhost/hook' };
      expect((await context.call(context.operation, { params, body })).status).toBe(422);
    },
  }),
  ...['enabled', 'is_enabled'].map((name) =>
    fieldCase({
      operations: CREATIONS,
      field: `body.${name}`,
      promise: 'it can be made paused',
      run: async (context) =>
        expect(await make(context, { [name]: false })).toMatchObject({ enabled: false, is_enabled: false }),
    }),
  ),
  fieldCase({
    operations: ['createCron'],
    field: 'body.on_run_completed',
    promise: 'the thread of a firing can be kept',
    run: async (context) =>
      expect(await make(context, { on_run_completed: 'keep' })).toMatchObject({ on_run_completed: 'keep' }),
  }),
];

const updateCases = [
  fieldCase({
    operations: UPDATES,
    field: 'body.schedule',
    promise: 'the next run is counted anew',
    run: async (context) => {
      const cron = await change(context, { metadata: {}, schedule: '30 4 2 3 *' });
      expect(cron.next_run_date).toMatch(/-03-02T04:30:00/);
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.timezone',
    promise: 'the next run is counted anew',
    run: async (context) => {
      const cron = await change(context, { metadata: {}, timezone: 'America/New_York' });
      expect(cron.next_run_date).toMatch(/-01-01T05:00:00/);
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.end_time',
    promise: 'the end can be taken away',
    run: async (context) => {
      const cron = await change(context, { metadata: {}, end_time: null }, { end_time: '2020-01-01T00:00:00Z' });
      expect(cron).toMatchObject({ end_time: null, next_run_date: expect.any(String) });
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.metadata',
    promise: 'metadata is merged',
    run: async (context) => {
      const cron = await change(context, { enabled: true, metadata: { b: 2 } }, { metadata: { a: 1, b: 1 } });
      expect(cron.metadata).toEqual({ a: 1, b: 2 });
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.webhook',
    promise: 'an address that may not be called is refused',
    run: async (context) => {
      const { cron_id } = await existing(context);
      const body = { metadata: {}, webhook: 'http://localhost/hook' };
      expect((await context.call(context.operation, { params: { cron_id }, body })).status).toBe(422);
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.on_run_completed',
    promise: 'the threads of its firings are kept from now on',
    run: async (context) => {
      expect(await change(context, { metadata: {}, on_run_completed: 'keep' })).toMatchObject({
        on_run_completed: 'keep',
      });
    },
  }),
  ...['enabled', 'is_enabled'].map((name) =>
    fieldCase({
      operations: UPDATES,
      field: `body.${name}`,
      promise: 'it can be paused',
      run: async (context) => {
        expect(await change(context, { metadata: {}, [name]: false })).toMatchObject({
          enabled: false,
          is_enabled: false,
        });
      },
    }),
  ),
];

/** Three crons that only this case knows, told apart by their schedules' days. */
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

const searchCases = [
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
  ...Object.entries({
    enabled: { sent: { enabled: false }, found: [3] },
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

const statusCases = [
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
        const { cron_id } = await existing(context);
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
        const cron = await existing(context);
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
        const { cron_id } = await existing(context);
        const answer = await context.call(operation, { params: { cron_id } });
        expect((await context.direct.call('getCron', { params: { cron_id } })).status).toBe(404);
        return answer;
      },
    }),
  ),
];

export const cases = [
  ...payloadCases,
  ...configCases,
  ...creationCases,
  ...updateCases,
  ...searchCases,
  ...statusCases,
];
