import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeAll(async () => {
  fixture = await openEngine();
});
afterAll(() => fixture.close());
beforeEach(() => fixture.rows('TRUNCATE run, thread, thread_fence, outbox, cron, assistant CASCADE').then(resume));

/** Halts the deployment as its data plane does. */
const halt = (reason = 'the model leaks', cancelsQueued = false) =>
  fixture.rows('UPDATE deployment SET halt_reason = $1, halt_cancels_queued = $2, halt_cancelled_runs = 0', [
    reason,
    cancelsQueued,
  ]);
const resume = () => fixture.rows('UPDATE deployment SET halt_reason = NULL');
const refusal = { status: 503, code: 'deployment_halted', message: 'The deployment is halted: the model leaks' };

const statuses = async () => (await fixture.rows('SELECT status FROM run ORDER BY seq')).map(({ status }) => status);

/** Creates runs of threads of their own, and claims them. */
async function runsInFlight(count: number) {
  const worker = await fixture.worker();
  await fixture.engine.createRunsTogether(Array.from({ length: count }, () => aRun()));
  return { worker, claimed: await fixture.engine.claimRuns(worker, count) };
}

describe('a halted deployment', () => {
  it('refuses every new run with its reason, alone or together, and nothing of the request stays', async () => {
    const threadId = await fixture.thread();
    const before = (await fixture.engine.createRun(aRun({ threadId, keepsThread: true }))).run;
    await halt();
    await expect(fixture.engine.createRun(aRun())).rejects.toMatchObject(refusal);
    await expect(fixture.engine.createRunsTogether([aRun(), aRun()])).rejects.toMatchObject(refusal);
    const creating = aRun({ threadId: randomUUID(), keepsThread: true, ifThreadMissing: 'create' });
    await expect(fixture.engine.createRun(creating)).rejects.toMatchObject({
      ...refusal,
      headers: { 'retry-after': '30' },
    });
    // A run that would cancel another one is refused before it does.
    const replacing = aRun({ threadId, keepsThread: true, multitaskStrategy: 'rollback' });
    await expect(fixture.engine.createRun(replacing)).rejects.toMatchObject(refusal);
    expect(await fixture.rows('SELECT run_id, status FROM run')).toEqual([{ run_id: before.runId, status: 'pending' }]);
    expect(await fixture.rows('SELECT thread_id FROM thread')).toEqual([{ thread_id: threadId }]);
  });

  it('has its waiting runs claimed by no worker, and by the first one after it is resumed', async () => {
    const worker = await fixture.worker();
    const { run } = await fixture.engine.createRun(aRun());
    await halt();
    expect(await fixture.engine.claimRuns(worker, 10)).toEqual([]);
    const among = { runIds: [run.runId], threadIds: [] };
    expect(await fixture.engine.claimRuns(worker, 10, { among })).toEqual([]);
    await resume();
    expect(await fixture.engine.claimRuns(worker, 10)).toMatchObject([{ runId: run.runId }]);
  });

  it('has 1,000 runs in flight ordered to stop in steps of at most 500 runs, and none twice', async () => {
    await runsInFlight(1_000);
    await halt();
    const { cancelled } = await fixture.engine.halts.enforce();
    expect(cancelled).toHaveLength(1_000);
    expect(new Set(cancelled.map(({ outcome }) => outcome))).toEqual(new Set(['ordered']));
    const orders = await fixture.rows(
      'SELECT count(*)::int AS runs, min(cancel_reason) AS reason FROM run GROUP BY xmin ORDER BY runs',
    );
    expect(orders).toEqual([
      { runs: 500, reason: refusal.message },
      { runs: 500, reason: refusal.message },
    ]);
    expect(await fixture.rows('SELECT halt_cancelled_runs FROM deployment')).toEqual([{ halt_cancelled_runs: 1_000 }]);
    expect((await fixture.engine.halts.enforce()).cancelled).toEqual([]);
  });

  it('keeps runs that wait, or ends them too, as the halt says', async () => {
    const { claimed } = await runsInFlight(1);
    await fixture.engine.createRun(aRun());
    await fixture.engine.createRun(aRun({ afterSeconds: 3600 }));
    await halt('a', false);
    expect((await fixture.engine.halts.enforce()).cancelled).toMatchObject([{ runId: claimed[0]!.runId }]);
    expect(await statuses()).toEqual(['running', 'pending', 'pending']);
    await halt('a', true);
    expect((await fixture.engine.halts.enforce()).cancelled).toHaveLength(2);
    expect(await statuses()).toEqual(['running', 'interrupted', 'interrupted']);
  });

  it('ends what runs as cancelled, even when its worker reports success or hands it back', async () => {
    const { claimed } = await runsInFlight(2);
    await halt();
    await fixture.engine.halts.enforce();
    expect(await fixture.engine.finishRun(success(claimed[0]!))).toMatchObject({ status: 'interrupted' });
    expect(await fixture.engine.releaseRun(claimed[1]!.fence)).toMatchObject({ outcome: 'ended' });
    expect(await statuses()).toEqual(['interrupted', 'interrupted']);
  });

  it('lets crons skip their slots, which do not fire after it is resumed', async () => {
    const [assistantId, cronId] = [randomUUID(), randomUUID()];
    await fixture.rows("INSERT INTO assistant (assistant_id, graph_id, name) VALUES ($1, 'agent', 'A')", [assistantId]);
    await fixture.rows(
      `INSERT INTO cron (cron_id, assistant_id, schedule, payload, next_run_date)
       VALUES ($1, $2, '0 0 1 1 *', '{}', now() - interval '1 second')`,
      [cronId, assistantId],
    );
    const fire = () => fixture.engine.crons.fire({ graphIds: ['agent'], toRun: () => aRun({ assistantId }) });
    await halt();
    expect(await fire()).toMatchObject([{ cronId, skipReason: 'halted', cancelled: [] }]);
    await resume();
    expect(await fire()).toEqual([]);
    expect(await statuses()).toEqual([]);
    expect(await fixture.rows('SELECT next_run_date > now() AS is_next FROM cron')).toEqual([{ is_next: true }]);
  });
});
