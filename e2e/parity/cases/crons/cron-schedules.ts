import { randomUUID } from 'node:crypto';
import { WebhookReceiver } from '@runyard/test-kit';
import { expect } from 'vitest';
import { fieldCase, type ParityCase, type ParityContext } from '../../framework/index.ts';
import {
  CREATIONS,
  type Cron,
  createCron,
  createFiringCron,
  fireCron,
  firstRunOf,
  runsOf,
  UPDATES,
  updateCron,
  waitUntilOthersFired,
  YEARLY,
} from './cron-fixtures.ts';

const EVERY_SECOND = '* * * * * *';
const OVER = '2020-01-01T00:00:00Z';

let opened: Promise<WebhookReceiver> | undefined;
/** Opens one receiver for all cases; each has a path of its own. */
function receiver(): Promise<WebhookReceiver> {
  opened ??= new WebhookReceiver().open();
  return opened;
}

/** Returns how many runs a cron creates in the time in which another one creates two. */
async function runsMeanwhile(context: ParityContext, cron: Cron): Promise<number> {
  const before = (await runsOf(context, cron)).length;
  await waitUntilOthersFired(context);
  const runs = (await runsOf(context, cron)).length - before;
  await context.direct.call('deleteCron', { params: { cron_id: cron.cron_id } });
  return runs;
}

/** Returns what the receiver gets of the first run of a cron with this body. */
async function toldOf(context: ParityContext, body: object) {
  const hooks = await receiver();
  const path = `/${randomUUID()}`;
  const base = { assistant_id: 'mirror', input: { text: 'hi' }, webhook: hooks.url(path), schedule: EVERY_SECOND };
  const isNew = CREATIONS.includes(context.operation);
  const cron = isNew
    ? await createCron(context, { ...base, ...body })
    : await updateCron(context, { metadata: {}, ...body, enabled: true }, { ...base, enabled: false });
  const [told] = await hooks.received(path);
  await context.direct.call('deleteCron', { params: { cron_id: cron.cron_id } });
  return told!.body;
}

const schedule: ParityCase[] = [
  fieldCase({
    operations: CREATIONS,
    field: 'body.schedule',
    promise: 'it fires when the schedule says, and tells when that is next',
    run: async (context) => {
      expect((await createCron(context, { schedule: '30 4 2 3 *' })).next_run_date).toMatch(/-03-02T04:30:00/);
      expect((await fireCron(context, {})).values.text).toBe('hi');
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.schedule',
    promise: 'it fires when the new schedule says',
    run: async (context) => {
      const cron = await createFiringCron(context, { schedule: EVERY_SECOND }, { schedule: YEARLY });
      expect(Date.parse(String(cron.next_run_date)) - Date.now()).toBeLessThan(60_000);
      expect((await firstRunOf(context, cron)).values.text).toBe('hi');
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.timezone',
    promise: 'the schedule is in the time zone',
    run: async (context) => {
      const cron = await createCron(context, { schedule: '0 9 1 1 *', timezone: 'America/New_York' });
      expect(cron.next_run_date).toMatch(/-01-01T14:00:00/);
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.timezone',
    promise: 'the next run is counted anew',
    run: async (context) => {
      const cron = await updateCron(context, { metadata: {}, timezone: 'America/New_York' });
      expect(cron.next_run_date).toMatch(/-01-01T05:00:00/);
    },
  }),
  fieldCase({
    operations: CREATIONS,
    field: 'body.end_time',
    promise: 'nothing runs after the end',
    run: async (context) => {
      const cron = await createFiringCron(context, { end_time: OVER });
      expect(await runsMeanwhile(context, cron)).toBe(0);
      expect(cron.next_run_date).toBeNull();
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: 'body.end_time',
    promise: 'the end can be taken away, and it fires again',
    run: async (context) => {
      const cron = await createFiringCron(context, { end_time: null }, { end_time: OVER });
      expect(cron).toMatchObject({ end_time: null, next_run_date: expect.any(String) });
      expect((await firstRunOf(context, cron)).values.text).toBe('hi');
    },
  }),
];

const paused: ParityCase[] = ['enabled', 'is_enabled'].flatMap((name) => [
  fieldCase({
    operations: CREATIONS,
    field: `body.${name}`,
    promise: 'it can be made paused, and does not fire',
    run: async (context) => {
      const cron = await createFiringCron(context, { [name]: false });
      expect(await runsMeanwhile(context, cron)).toBe(0);
      expect(cron).toMatchObject({ enabled: false, is_enabled: false });
    },
  }),
  fieldCase({
    operations: UPDATES,
    field: `body.${name}`,
    promise: 'it can be paused, and does not fire any more',
    run: async (context) => {
      const body = { assistant_id: 'mirror', input: { text: 'hi' }, schedule: EVERY_SECOND, on_run_completed: 'keep' };
      const cron = await updateCron(context, { metadata: {}, [name]: false }, body);
      expect(await runsMeanwhile(context, cron)).toBe(0);
      expect(cron).toMatchObject({ enabled: false, is_enabled: false });
    },
  }),
]);

const afterwards: ParityCase[] = [
  fieldCase({
    operations: [...CREATIONS, ...UPDATES],
    field: 'body.webhook',
    promise: 'webhook is told of the end of each of its runs, with its final values',
    run: async (context) => {
      const hooks = await receiver();
      const path = `/${randomUUID()}`;
      const { threadId, run } = await fireCron(context, { webhook: hooks.url(path) });
      const params = { thread_id: threadId, run_id: run.run_id };
      const { body: deliveries } = await context.direct.call('listWebhookDeliveries', { params });
      expect(deliveries).toMatchObject([{ url: hooks.url(path) }]);
      const told = (await hooks.received(path)).map(({ body }) => body);
      expect(told).toContainEqual(
        expect.objectContaining({ run_id: run.run_id, values: expect.objectContaining({ text: 'hi' }) }),
      );
    },
  }),
  fieldCase({
    operations: ['createCron', ...UPDATES],
    field: 'body.on_run_completed',
    promise: 'the thread of a firing is kept after its run, where it would be deleted',
    run: async (context) => {
      const { thread_id } = await toldOf(context, { on_run_completed: 'keep' });
      const { status, body: thread } = await context.direct.call('getThread', { params: { thread_id } });
      expect(status).toBe(200);
      expect(thread.values).toMatchObject({ text: 'hi' });
    },
  }),
];

export const cases: ParityCase[] = [...schedule, ...paused, ...afterwards];
