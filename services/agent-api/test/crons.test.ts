import { randomUUID } from 'node:crypto';
import { WorkSignals } from '@runyard/run-engine';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';
import { shareDeployment } from './shared-deployment.ts';

let deployment: TestDeployment;
beforeAll(async () => {
  deployment = await shareDeployment();
});
afterAll(() => deployment?.close());

const ECHO = '046b5dc7-2108-582c-9c6c-31d556d138f0';
const YEARLY = '0 0 1 1 *';
const post = (path: string, body: unknown) => ask(deployment.url + path, { body });
const patch = (path: string, body: unknown) => ask(deployment.url + path, { method: 'PATCH', body });

async function create(body: object = {}, path = '/runs/crons'): Promise<Record<string, unknown> & { cron_id: string }> {
  const { status, json, text } = await post(path, { assistant_id: 'echo', schedule: YEARLY, ...body });
  expect(status, text).toBe(200);
  return json as Record<string, unknown> & { cron_id: string };
}

async function detailOf(answer: Promise<{ status: number; json: unknown }>): Promise<[number, string]> {
  const { status, json } = await answer;
  return [status, (json as { detail: string }).detail];
}

/** Makes the cron's next slot due, and wakes the scheduler as any change does. */
async function comeDue(cronId: string, ago = '1 second'): Promise<void> {
  await deployment.pool.query('UPDATE cron SET next_run_date = now() - $2::interval WHERE cron_id = $1', [cronId, ago]);
  await patch(`/crons/${cronId}`, { metadata: {} });
}

async function runsOf(cronId: string) {
  const { rows } = await deployment.pool.query<{ run_id: string; thread_id: string }>(
    "SELECT run_id, thread_id FROM run WHERE metadata->>'cron_id' = $1 ORDER BY seq",
    [cronId],
  );
  return rows;
}

const firstRunOf = (cronId: string) => waitFor(async () => (await runsOf(cronId))[0], { what: 'a run of the cron' });

describe('creating a cron', () => {
  it('returns it with its next run in its time zone, and the request it stands for', async () => {
    const cron = await create({
      schedule: '0 9 1 1 *',
      timezone: 'America/New_York',
      input: { n: 1 },
      config: { configurable: { tone: 'x', cron_id: 'mine' } },
      metadata: { team: 'blue', cron_id: 'mine' },
    });
    expect(cron).toEqual({
      cron_id: expect.any(String),
      assistant_id: ECHO,
      thread_id: null,
      user_id: expect.any(String),
      end_time: null,
      schedule: '0 9 1 1 *',
      timezone: 'America/New_York',
      payload: {
        assistant_id: ECHO,
        schedule: '0 9 1 1 *',
        timezone: 'America/New_York',
        enabled: true,
        on_run_completed: 'delete',
        input: { n: 1 },
        metadata: { team: 'blue' },
        config: { configurable: { tone: 'x', cron_id: cron.cron_id } },
      },
      next_run_date: expect.stringMatching(/^20\d\d-01-01T14:00:00\.000000\+00:00$/),
      metadata: { team: 'blue' },
      on_run_completed: 'delete',
      enabled: true,
      is_enabled: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await ask(`${deployment.url}/runs/crons/${cron.cron_id}`)).json).toEqual(cron);
    expect((await ask(`${deployment.url}/crons/${cron.cron_id}`)).json).toEqual(cron);
  });

  it('refuses a wrong schedule, time zone or end with the reason', async () => {
    const detailAfter = (body: object) =>
      detailOf(post('/runs/crons', { assistant_id: 'echo', schedule: YEARLY, ...body }));
    expect(await detailAfter({ schedule: 'nope' })).toEqual([
      422,
      "Invalid cron schedule: 'nope'. Reason: five fields are needed (minute hour day month weekday) or six (seconds last), there is 1",
    ]);
    expect(await detailAfter({ schedule: '0 0 1 *' })).toEqual([422, expect.stringContaining('there are 4')]);
    expect(await detailAfter({ schedule: '0 0 31 2 *' })).toEqual([422, expect.stringContaining('never comes')]);
    expect(await detailAfter({ schedule: undefined })).toEqual([422, 'schedule is required']);
    expect(await detailAfter({ timezone: 'Zap/Zop' })).toEqual([422, expect.stringContaining("timezone: 'Zap/Zop'")]);
    expect(await detailAfter({ end_time: 'soon' })).toEqual([422, expect.stringContaining('end_time')]);
    const yearFive = { end_time: '9999-12-31T23:59:59-23:59' };
    expect(await detailAfter(yearFive)).toEqual([422, expect.stringContaining('end_time')]);
    expect(await detailAfter({ enabled: true, is_enabled: false })).toEqual([
      422,
      expect.stringContaining('is_enabled'),
    ]);
    const { thread_id } = await deployment.client.threads.create();
    const onThread = { assistant_id: 'echo', schedule: YEARLY, on_run_completed: 'delete' };
    expect(await detailOf(post(`/threads/${thread_id}/runs/crons`, onThread))).toEqual([
      422,
      'on_run_completed "delete" is for crons without a thread of their own',
    ]);
    expect(await detailAfter({ context: { a: 1 }, config: { configurable: { b: 1 } } })).toEqual([
      400,
      expect.stringContaining('both configurable and context'),
    ]);
  });

  it('requires an assistant and a thread that exist', async () => {
    const detailAfter = (path: string, assistant_id: string) =>
      detailOf(post(path, { assistant_id, schedule: YEARLY }));
    expect(await detailAfter('/runs/crons', 'zap')).toEqual([404, "Assistant 'zap' not found"]);
    expect((await detailAfter('/runs/crons', randomUUID()))[0]).toBe(404);
    const missing = randomUUID();
    expect(await detailAfter(`/threads/${missing}/runs/crons`, 'echo')).toEqual([
      404,
      expect.stringContaining(`Thread with ID '${missing}' not found`),
    ]);
  });

  it('takes either name of the switch, and an end that is past or has no offset', async () => {
    expect(await create({ is_enabled: false })).toMatchObject({ enabled: false, is_enabled: false });
    expect(await create({ enabled: false, is_enabled: false })).toMatchObject({ enabled: false });
    expect(await create({ end_time: '2020-01-01T00:00:00' })).toMatchObject({
      end_time: '2020-01-01T00:00:00.000000+00:00',
      next_run_date: null,
    });
    expect(await create({ schedule: '@yearly', end_time: '2100-01-01T02:00:00+02:00' })).toMatchObject({
      end_time: '2100-01-01T00:00:00.000000+00:00',
      next_run_date: expect.any(String),
    });
  });
});

describe('a firing', () => {
  it('creates a run as the request describes it, on a thread that is deleted with it', async () => {
    const cron = await create({
      input: { n: 1 },
      metadata: { team: 'blue' },
      config: { tags: ['t'], recursion_limit: 7 },
      context: { tone: 'x' },
      interrupt_before: ['a'],
      interrupt_after: '*',
      stream_mode: ['updates', 'custom'],
      stream_subgraphs: true,
      stream_resumable: true,
      durability: 'sync',
      multitask_strategy: 'interrupt',
    });
    await comeDue(cron.cron_id);
    const { run_id } = await firstRunOf(cron.cron_id);
    expect((await ask(`${deployment.url}/runs/${run_id}`)).json).toMatchObject({
      assistant_id: ECHO,
      multitask_strategy: 'interrupt',
      metadata: { team: 'blue', cron_id: cron.cron_id, graph_id: 'echo', assistant_id: ECHO },
      kwargs: {
        input: { n: 1 },
        context: { tone: 'x' },
        config: {
          tags: ['t'],
          recursion_limit: 7,
          configurable: { tone: 'x', cron_id: cron.cron_id, run_id },
          metadata: { team: 'blue', cron_id: cron.cron_id },
        },
        interrupt_before: ['a'],
        interrupt_after: '*',
        stream_mode: ['updates', 'custom'],
        subgraphs: true,
        resumable: true,
        durability: 'sync',
        temporary: true,
      },
    });
    const run = await deployment.worker.take();
    expect(run.claimed.runId).toBe(run_id);
    await run.succeed({ done: true });
    expect((await ask(`${deployment.url}/threads/${run.claimed.threadId}`)).status).toBe(404);
  });

  it("keeps the thread on request, a new one each time, which the cron's id finds", async () => {
    const cron = await create({ on_run_completed: 'keep', metadata: { team: 'green' } });
    for (const count of [1, 2]) {
      await comeDue(cron.cron_id);
      await waitFor(async () => (await runsOf(cron.cron_id)).length === count);
      await (await deployment.worker.take()).succeed({ done: true });
    }
    const threads = await deployment.client.threads.search({ metadata: { cron_id: cron.cron_id, team: 'green' } });
    expect(threads.map(({ thread_id }) => thread_id).sort()).toEqual(
      (await runsOf(cron.cron_id)).map(({ thread_id }) => thread_id).sort(),
    );
    expect(new Set(threads.map(({ thread_id }) => thread_id)).size).toBe(2);
  });

  it('on a thread waits for the runs before it', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const cron = await create({ input: { n: 2 } }, `/threads/${thread_id}/runs/crons`);
    expect(cron).toMatchObject({ thread_id, on_run_completed: null });
    await comeDue(cron.cron_id);
    expect(await firstRunOf(cron.cron_id)).toMatchObject({ thread_id });
    await (await deployment.worker.take()).succeed({});
  });

  it('happens once for all slots that were missed during an outage', async () => {
    const cron = await create({ schedule: '*/5 * * * *' });
    await comeDue(cron.cron_id, '3 days');
    await firstRunOf(cron.cron_id);
    const { json } = await ask(`${deployment.url}/crons/${cron.cron_id}`);
    expect(Date.parse((json as { next_run_date: string }).next_run_date)).toBeGreaterThan(Date.now());
    expect(await runsOf(cron.cron_id)).toHaveLength(1);
    await (await deployment.worker.take()).succeed({});
  });

  it('is in time also when another process made the change', async () => {
    const cron = await create();
    await deployment.pool.query('UPDATE cron SET next_run_date = now() WHERE cron_id = $1', [cron.cron_id]);
    const signals = new WorkSignals({ ...deployment.redis, topic: 'crons' });
    signals.send();
    await firstRunOf(cron.cron_id);
    signals.close();
    const { text } = await ask(`${deployment.url}/metrics`);
    expect(text).toMatch(/^lg_api_cron_slots_total\{outcome="run",.*\} [1-9]/m);
    await (await deployment.worker.take()).succeed({});
  });

  it('needs no Redis', async () => {
    const cron = await create();
    await deployment.lines.redis.refuse();
    await comeDue(cron.cron_id);
    await firstRunOf(cron.cron_id);
    await deployment.lines.redis.heal();
    await (await deployment.worker.take()).succeed({});
  });
});

describe('changing a cron', () => {
  it('merges metadata, replaces the rest, and computes the next run anew', async () => {
    const cron = await create({ metadata: { a: 1, b: 1 }, input: { n: 1 }, end_time: '2100-01-01T00:00:00Z' });
    const change = {
      schedule: '30 4 1 1 *',
      timezone: 'Europe/Paris',
      metadata: { b: 2 },
      input: { n: 2 },
      end_time: null,
    };
    const { json } = await patch(`/runs/crons/${cron.cron_id}`, { ...change, stream_mode: 'updates' });
    expect(json).toMatchObject({
      schedule: '30 4 1 1 *',
      timezone: 'Europe/Paris',
      next_run_date: expect.stringContaining('-01-01T03:30:00'),
      metadata: { a: 1, b: 2 },
      end_time: null,
      payload: { input: { n: 2 }, stream_mode: 'updates', schedule: '30 4 1 1 *', metadata: { a: 1, b: 2 } },
    });
    // It would be stored, and no list could show it.
    expect((await patch(`/crons/${cron.cron_id}`, { end_time: '9999-12-31T23:59:59-23:59' })).status).toBe(422);
    expect((await patch(`/crons/${cron.cron_id}`, { end_time: '2020-01-01T00:00:00Z' })).json).toMatchObject({
      next_run_date: null,
    });
    expect((await patch(`/crons/${cron.cron_id}`, { end_time: null })).json).toMatchObject({
      next_run_date: expect.stringContaining('-01-01T03:30:00'),
    });
    expect((await patch(`/crons/${cron.cron_id}`, { timezone: null })).json).toMatchObject({
      timezone: 'UTC',
      next_run_date: expect.stringContaining('-01-01T04:30:00'),
    });
  });

  it('sets the durability of its runs by either name, whichever it was created with', async () => {
    const cron = await create({ durability: 'sync', input: { n: 1 } });
    const payloadAfter = async (change: object) =>
      ((await patch(`/crons/${cron.cron_id}`, change)).json as { payload: Record<string, unknown> }).payload;
    const older = await payloadAfter({ checkpoint_during: false });
    expect(older).toMatchObject({ checkpoint_during: false, input: { n: 1 } });
    expect(older).not.toHaveProperty('durability');
    expect(await payloadAfter({ durability: 'async' })).not.toHaveProperty('checkpoint_during');
    expect(await payloadAfter({ multitask_strategy: 'reject' })).toMatchObject({
      durability: 'async',
      multitask_strategy: 'reject',
    });
  });

  it('pauses it, and does not fire late what fell into the pause', async () => {
    const cron = await create({ schedule: '* * * * *' });
    expect((await patch(`/crons/${cron.cron_id}`, { is_enabled: false })).json).toMatchObject({ enabled: false });
    await comeDue(cron.cron_id);
    const { json } = await patch(`/crons/${cron.cron_id}`, { enabled: true });
    expect(Date.parse((json as { next_run_date: string }).next_run_date)).toBeGreaterThan(Date.now());
    expect(await runsOf(cron.cron_id)).toHaveLength(0);
    await ask(`${deployment.url}/crons/${cron.cron_id}`, { method: 'DELETE' });
  });

  it('refuses what a creation would refuse', async () => {
    const { cron_id } = await create({ context: { a: 1 } });
    const detailAfter = (body: object) => detailOf(patch(`/crons/${cron_id}`, body));
    expect(await detailAfter({})).toEqual([400, 'Request body cannot be empty']);
    expect((await detailAfter({ schedule: 'nope' }))[0]).toBe(422);
    expect((await detailAfter({ timezone: 'Zap/Zop' }))[0]).toBe(422);
    expect(await detailAfter({ next_run_date: '2030-01-01T00:00:00Z' })).toEqual([
      422,
      expect.stringContaining('next_run_date'),
    ]);
    expect((await detailAfter({ enabled: true, is_enabled: false }))[0]).toBe(422);
    expect(await detailAfter({ multitask_strategy: 'zap' })).toEqual([
      422,
      expect.stringContaining('multitask_strategy'),
    ]);
    expect(await detailAfter({ checkpoint_during: 'zap' })).toEqual([
      422,
      expect.stringContaining('checkpoint_during'),
    ]);
    expect((await detailAfter({ config: { configurable: { b: 1 } } }))[0]).toBe(400);
    expect((await detailOf(patch(`/crons/${randomUUID()}`, { enabled: true })))[0]).toBe(404);
    const { thread_id } = await deployment.client.threads.create();
    const onThread = await create({}, `/threads/${thread_id}/runs/crons`);
    expect((await detailOf(patch(`/crons/${onThread.cron_id}`, { on_run_completed: 'delete' })))[0]).toBe(422);
    // Official clients say so of any cron.
    const kept = await patch(`/crons/${onThread.cron_id}`, { on_run_completed: 'keep' });
    expect(kept.json).toMatchObject({ on_run_completed: null });
  });
});

describe('searching crons', () => {
  it('filters, sorts, selects, pages and counts', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const metadata = { searched: randomUUID() };
    await create({ metadata, schedule: '0 0 3 1 *', enabled: false });
    await create({ metadata, schedule: '0 0 1 1 *' });
    await create({ metadata, schedule: '0 0 2 1 *' }, `/threads/${thread_id}/runs/crons`);
    const { json, headers } = await post('/runs/crons/search', {
      metadata,
      sort_by: 'next_run_date',
      sort_order: 'asc',
      select: ['schedule', 'enabled'],
      limit: 2,
    });
    expect(json).toEqual([
      { schedule: '0 0 1 1 *', enabled: true },
      { schedule: '0 0 2 1 *', enabled: true },
    ]);
    expect(headers).toMatchObject({ 'x-pagination-total': '3', 'x-pagination-next': '2' });
    const schedules = async (filter: object) =>
      ((await post('/runs/crons/search', { metadata, ...filter })).json as { schedule: string }[]).map(
        ({ schedule }) => schedule,
      );
    expect(await schedules({})).toEqual(['0 0 2 1 *', '0 0 1 1 *', '0 0 3 1 *']);
    expect(await schedules({ enabled: false })).toEqual(['0 0 3 1 *']);
    expect(await schedules({ is_enabled: false })).toEqual(['0 0 3 1 *']);
    expect((await post('/runs/crons/count', { metadata, is_enabled: true })).text).toBe('2');
    expect((await post('/runs/crons/search', { enabled: true, is_enabled: false })).status).toBe(422);
    expect(await schedules({ thread_id })).toEqual(['0 0 2 1 *']);
    expect(await schedules({ assistant_id: randomUUID() })).toEqual([]);
    expect((await post('/runs/crons/count', { metadata, assistant_id: ECHO })).text).toBe('3');
    expect((await post('/runs/crons/count', { metadata, thread_id })).text).toBe('1');
  });
});

describe('the end of a cron', () => {
  it('comes by deletion, once', async () => {
    const { cron_id } = await create();
    const remove = () => ask(`${deployment.url}/runs/crons/${cron_id}`, { method: 'DELETE' });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(404);
    expect((await ask(`${deployment.url}/crons/${cron_id}`)).status).toBe(404);
  });

  it('comes with the deletion of its thread', async () => {
    const { thread_id } = await deployment.client.threads.create();
    const cron = await create({}, `/threads/${thread_id}/runs/crons`);
    await deployment.client.threads.delete(thread_id);
    expect((await ask(`${deployment.url}/crons/${cron.cron_id}`)).status).toBe(404);
  });
});
