import { waitFor } from '@runyard/test-kit';
import { expect } from 'vitest';
import type { ParityContext, WireEvent } from '../../framework/index.ts';

export const YEARLY = '0 0 1 1 *';
/** A schedule of six fields: the seconds come last. */
const EVERY_SECOND = '* * * * * *';
export const CREATIONS = ['createCron', 'createThreadCron'];
export const UPDATES = ['updateCron', 'updateCronAlias'];

export interface Cron {
  cron_id: string;
  thread_id: string | null;
  [field: string]: unknown;
}

export interface FiredRun {
  threadId: string;
  run: { run_id: string; assistant_id: string; multitask_strategy: string; metadata: Record<string, unknown> };
  // biome-ignore lint/suspicious/noExplicitAny: the values of every graph, and what stands for a failure.
  values: any;
}

export async function newThread({ direct }: ParityContext): Promise<string> {
  return (await direct.client.threads.create()).thread_id;
}

/** Returns a thread for the operation that needs one. */
export async function paramsOf(context: ParityContext): Promise<Record<string, string>> {
  return context.operation === 'createThreadCron' ? { thread_id: await newThread(context) } : {};
}

/** Creates a cron by the operation under test. */
export async function createCron(context: ParityContext, body: object, params?: Record<string, string>): Promise<Cron> {
  const answer = await context.call(context.operation, {
    params: params ?? (await paramsOf(context)),
    body: { assistant_id: 'echo', schedule: YEARLY, ...body },
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Creates a cron, whatever the operation under test. */
export async function createIdleCron({ direct }: ParityContext, body: object = {}): Promise<Cron> {
  return (await direct.call('createCron', { body: { assistant_id: 'echo', schedule: YEARLY, ...body } })).body;
}

/** Changes a new cron by the operation under test. */
export async function updateCron(context: ParityContext, body: object, before: object = {}): Promise<Cron> {
  const { cron_id } = await createIdleCron(context, before);
  const answer = await context.call(context.operation, { params: { cron_id }, body });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/**
 * Creates a cron that fires every second by the operation under test, or changes it by that before its first slot. It
 * keeps its threads, so that its runs can be read.
 */
export async function createFiringCron(context: ParityContext, body: object, before: object = {}): Promise<Cron> {
  const base = { assistant_id: 'mirror', input: { text: 'hi' }, schedule: EVERY_SECOND };
  const keep = context.operation === 'createThreadCron' ? {} : { on_run_completed: 'keep' };
  if (CREATIONS.includes(context.operation)) return createCron(context, { ...base, ...keep, ...body });
  return updateCron(context, { metadata: {}, ...body, enabled: true }, { ...base, ...keep, ...before, enabled: false });
}

/** Returns the runs of a cron so far, oldest first. */
export async function runsOf(
  { direct }: ParityContext,
  cron: Cron,
): Promise<{ threadId: string; run: FiredRun['run'] }[]> {
  const { cron_id, thread_id } = cron;
  const threads = thread_id
    ? [{ thread_id }]
    : (
        await direct.call('searchThreads', {
          body: { metadata: { cron_id }, sort_by: 'created_at', sort_order: 'asc', select: ['thread_id'] },
        })
      ).body;
  const runs = await Promise.all(
    threads.map(async ({ thread_id }: { thread_id: string }) =>
      (await direct.call('listRuns', { params: { thread_id }, query: { limit: 100 } })).body
        .filter(({ metadata }: FiredRun['run']) => metadata.cron_id === cron_id)
        .map((run: FiredRun['run']) => ({ threadId: thread_id, run }))
        .reverse(),
    ),
  );
  return runs.flat();
}

/** Returns the first run of a cron once it has ended. The cron is deleted: one run is enough. */
export async function firstRunOf(context: ParityContext, cron: Cron): Promise<FiredRun> {
  const [first] = await waitFor(
    async () => {
      const runs = await runsOf(context, cron);
      return runs.length > 0 ? runs : undefined;
    },
    { what: 'the first run of the cron' },
  );
  const { threadId, run } = first!;
  const { direct } = context;
  await direct.call('deleteCron', { params: { cron_id: cron.cron_id } });
  const { body: values } = await direct.call('joinRun', { params: { thread_id: threadId, run_id: run.run_id } });
  return { threadId, run, values };
}

/** Returns the first run of a cron with this body, as of `firing`. */
export async function fireCron(context: ParityContext, body: object, before?: object): Promise<FiredRun> {
  return firstRunOf(context, await createFiringCron(context, body, before));
}

/** Returns the kept events of an ended run. */
export async function eventsOf({ direct }: ParityContext, { threadId, run }: FiredRun): Promise<WireEvent[]> {
  const params = { thread_id: threadId, run_id: run.run_id };
  return (await direct.call('joinRunStream', { params, headers: { 'last-event-id': '-1' } })).events;
}

/** Resolves when every cron that is due every second has fired since: another one has, twice. */
export async function waitUntilOthersFired(context: ParityContext): Promise<void> {
  const reference = await createIdleCron(context, {
    assistant_id: 'mirror',
    input: { text: 'tick' },
    schedule: EVERY_SECOND,
    on_run_completed: 'keep',
  });
  await waitFor(async () => (await runsOf(context, reference)).length >= 2, {
    what: 'two runs of another cron',
  });
  await context.direct.call('deleteCron', { params: { cron_id: reference.cron_id } });
}
