import { randomUUID } from 'node:crypto';
import { createDataCipher } from '@runyard/encryption';
import type { FiredSlot } from '@runyard/run-engine';
import { AppError } from '@runyard/service-kit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Scope, UNRESTRICTED } from '../src/access/scope.ts';
import { runOfCron } from '../src/crons/cron-runs.ts';
import type { CronOrigin } from '../src/crons/cron-service.ts';
import { toWireRun } from '../src/runs/run-wire.ts';
import { NOBODY, openServices, type TestServices } from './services.ts';

const USER = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: ['p'], token: 'secret' };
const ADA = [{ owner: 'ada' }];
const BOB = [{ owner: 'bob' }];
const BLUE = { teams: ['blue'] };
const YEARLY = { schedule: '@yearly' };

let services: TestServices;
beforeAll(async () => {
  services = await openServices(createDataCipher('k'.repeat(32)));
});
afterAll(() => services?.close());

function by(scope: Scope, overrides: Partial<CronOrigin> = {}): CronOrigin {
  return { cronScope: scope, scope, assistantScope: scope, userId: 'ada', user: USER, ...overrides };
}

async function create(origin: CronOrigin, request: { assistant_id?: string; metadata?: object; config?: object } = {}) {
  return services.crons.create(origin, { assistant_id: 'echo', ...YEARLY, ...(request as object) });
}

async function fire(cronId: string): Promise<FiredSlot> {
  await services.pool.query("UPDATE cron SET next_run_date = now() - interval '1 s' WHERE cron_id = $1", [cronId]);
  const slots = await services.engine.crons.fire({
    graphIds: ['echo'],
    toRun: (cron) => runOfCron(cron, { hasUsers: true }),
  });
  expect(slots).toHaveLength(1);
  return slots[0]!;
}

/** Returns whom the event of a run names as its creator. */
async function creatorOf(runId: string): Promise<unknown> {
  const { rows } = await services.pool.query<{ creator: unknown }>(
    `SELECT event -> 'data' -> 'creator' AS creator FROM outbox
     WHERE event ->> 'type' = 'runyard.run.created' AND event -> 'data' ->> 'run_id' = $1`,
    [runId],
  );
  return rows[0]!.creator;
}

async function statusOf(work: Promise<unknown>): Promise<number> {
  const outcome = await work.then(
    () => 200,
    (error: unknown) => error,
  );
  return outcome instanceof AppError ? outcome.status : (outcome as number);
}

it('a cron fires as the user who made it, whom only the graph can read', async () => {
  const forged = { identity: 'bob' };
  const configurable = { user_id: 'bob', langgraph_auth_user: forged, svc_auth_user: forged };
  const cron = await create(by(ADA), { config: { configurable } });
  const { run } = await fire(cron.cron_id);
  expect(run!.kwargs.config).toMatchObject({
    configurable: {
      user_id: 'ada',
      langgraph_auth_user: USER,
      langgraph_auth_user_id: 'ada',
      langgraph_auth_permissions: ['p'],
      svc_auth_user: USER,
    },
  });
  const { rows } = await services.pool.query<{ creator: Buffer }>('SELECT creator FROM cron_creator');
  expect(rows).toHaveLength(1);
  expect(rows[0]!.creator.toString('latin1')).not.toMatch(/secret|ada/);
  const changed = await services.crons.patch(by(ADA), cron.cron_id, { metadata: { n: 1 } });
  const found = await services.crons.get(ADA, cron.cron_id);
  expect(JSON.stringify([cron, changed, found, toWireRun(run!)])).not.toContain('secret');
  expect((await fire(cron.cron_id)).run!.kwargs.config).toMatchObject({ configurable: { svc_auth_user: USER } });
  await services.crons.delete(ADA, cron.cron_id);
  expect((await services.pool.query('SELECT 1 FROM cron_creator')).rows).toEqual([]);
});

it('the event of a run of a cron names the user of the cron as its creator, whatever the metadata say', async () => {
  const creator = { kind: 'session', identity: 'bob' };
  const { cron_id } = await services.crons.create(by(ADA), { assistant_id: 'echo', ...YEARLY, metadata: { creator } });
  const { run } = await fire(cron_id);
  expect(run!.metadata).toMatchObject({ creator, cron_id });
  expect(await creatorOf(run!.runId)).toEqual({ kind: 'cron', identity: 'ada' });
});

it('runs of a cron and of a user are for their creator, whoever owns their assistant', async () => {
  const { assistants, runs } = services;
  const metadata = { owner: 'bob', reader: 'carol', ...BLUE };
  const { assistant_id } = await assistants.create(UNRESTRICTED, { graph_id: 'echo', metadata });
  const origin = by(ADA, { assistantScope: [BLUE] });
  const { cron_id } = await create(origin, { assistant_id });
  const fired = (await fire(cron_id)).run!;
  const own = await runs.create({ ...origin, creator: NOBODY, requestId: '' }, { assistant_id });
  for (const { runId } of [fired, own]) {
    for (const stranger of [BOB, [BLUE], [{ reader: 'carol' }]]) {
      expect(await statusOf(runs.findById(stranger, runId))).toBe(404);
    }
    expect(await statusOf(runs.findById(ADA, runId))).toBe(200);
  }
  // A user who may see everything does not show its runs to the owner of the assistant either.
  const { run } = await fire((await create(by(UNRESTRICTED), { assistant_id })).cron_id);
  expect(await statusOf(runs.findById(BOB, run!.runId))).toBe(404);
});

it('a slot is refused when its creator may not run on the thread or the assistant any more', async () => {
  const { assistants, threads } = services;
  const { thread_id: threadId } = await threads.create(ADA, {});
  const { assistant_id } = await assistants.create(ADA, { graph_id: 'echo' });
  const onThread = await create(by(ADA, { threadId, cronScope: UNRESTRICTED }));
  const withAssistant = await create(by(ADA), { assistant_id });
  const ofAll = await create(by(UNRESTRICTED, { threadId }), { assistant_id });
  expect((await fire(onThread.cron_id)).run).toMatchObject({ threadId });
  expect((await fire(withAssistant.cron_id)).run).toMatchObject({ assistantId: assistant_id });
  await threads.patch(UNRESTRICTED, threadId, { metadata: { owner: 'bob' } });
  await assistants.patch(UNRESTRICTED, assistant_id, { metadata: { owner: 'bob' } });
  for (const { cron_id } of [onThread, withAssistant]) {
    const slot = await fire(cron_id);
    expect(slot.run).toBeUndefined();
    expect(slot.refusal).toMatchObject({ status: 404 });
  }
  expect((await fire(ofAll.cron_id)).run).toMatchObject({ threadId, assistantId: assistant_id });
});

it('a cron needs its thread in the scope of threads, and runs that its creator can see', async () => {
  const { thread_id: threadId } = await services.threads.create(BOB, {});
  expect(await statusOf(create(by(ADA, { threadId })))).toBe(404);
  expect(await statusOf(create(by(ADA, { threadId, scope: BOB })))).toBe(200);
  const team = [...BOB, BLUE];
  expect(await statusOf(create(by(ADA, { scope: team })))).toBe(403);
  const seen = await create(by(ADA, { scope: team }), { metadata: BLUE });
  expect((await fire(seen.cron_id)).run!.metadata).toMatchObject({ owner: 'ada', ...BLUE });
  // A change that hides its runs from the creator lets no slot fire.
  await services.crons.patch(by(ADA), seen.cron_id, { metadata: { teams: [] } });
  expect((await fire(seen.cron_id)).refusal).toMatchObject({ status: 403 });
});

it('who changes what the runs of a cron do makes them from then on, and may make them', async () => {
  const { crons, assistants } = services;
  const bob = (overrides: Partial<CronOrigin> = {}) =>
    by(BOB, {
      cronScope: UNRESTRICTED,
      userId: 'bob',
      user: { ...USER, identity: 'bob', token: 'of bob' },
      ...overrides,
    });
  const { cron_id } = await create(by(ADA));
  const userOf = async () => ((await fire(cron_id)).run!.kwargs.config as { configurable: object }).configurable;
  await crons.patch(bob(), cron_id, { enabled: true, schedule: '@monthly', metadata: { n: 1 } });
  expect(await userOf()).toMatchObject({ user_id: 'ada', svc_auth_user: { token: 'secret' } });
  await crons.patch(bob(), cron_id, { input: { n: 1 } });
  expect(await userOf()).toMatchObject({ user_id: 'bob', svc_auth_user: { token: 'of bob' } });
  expect(await creatorOf((await fire(cron_id)).run!.runId)).toEqual({ kind: 'cron', identity: 'bob' });
  const { assistant_id } = await assistants.create(ADA, { graph_id: 'echo' });
  const withAssistant = await create(by(ADA), { assistant_id });
  expect(await statusOf(crons.patch(bob(), withAssistant.cron_id, { input: {} }))).toBe(404);
  expect(await statusOf(crons.patch(bob({ cronScope: BOB }), cron_id, { input: {} }))).toBe(404);
  expect((await fire(withAssistant.cron_id)).run!.kwargs.config).toMatchObject({ configurable: { user_id: 'ada' } });
});

it('a cron whose creator cannot be decrypted waits, and one of a release before fires as nobody else', async () => {
  const lost = await create(by(ADA));
  await services.pool.query(
    "UPDATE cron_creator SET creator = overlay(creator placing '\\x00000000' from 2 for 4) WHERE cron_id = $1",
    [lost.cron_id],
  );
  const slot = await fire(lost.cron_id);
  expect(slot.run).toBeUndefined();
  expect(slot.postponement).toMatchObject({ message: expect.stringContaining('LANGGRAPH_AES_KEY') });
  const older = randomUUID();
  await services.pool.query(
    `INSERT INTO cron (cron_id, assistant_id, user_id, schedule, on_run_completed, payload)
     VALUES ($1, $2, 'key-1', '@yearly', 'delete', '{}')`,
    [older, services.echo],
  );
  const ofOlder = (await fire(older)).run!;
  expect(await creatorOf(ofOlder.runId)).toEqual({ kind: 'cron', identity: 'key-1' });
  const { configurable } = ofOlder.kwargs.config as { configurable: object };
  expect(configurable).toMatchObject({ user_id: 'key-1' });
  expect(configurable).not.toHaveProperty('langgraph_auth_user');
  const { assistants, runs } = services;
  const { assistant_id } = await assistants.create(BOB, { graph_id: 'echo' });
  await services.pool.query('UPDATE cron SET assistant_id = $2 WHERE cron_id = $1', [older, assistant_id]);
  expect(await statusOf(runs.findById(BOB, (await fire(older)).run!.runId))).toBe(404);
});
