import { randomUUID } from 'node:crypto';
import { conforms, RunRetried } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunEngine } from '../src/engine.ts';
import type { RunEngineOptions } from '../src/engine-options.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

const failure = { error: 'GraphHostLost', message: 'out of memory' };

let fixture: EngineFixture;
beforeEach(async () => {
  fixture = await openEngine({ maxFailures: 3 });
});
afterEach(() => fixture.close());

async function letLeaseLapse(worker: string): Promise<void> {
  await fixture.pool.query('UPDATE worker SET lease_until = now() WHERE worker_id = $1', [worker]);
}

async function claimOne(worker: string) {
  const [run] = await fixture.engine.claimRuns(worker, 1);
  return run!;
}

/** Makes an engine with limits of its own, whose runs are taken up again at once. */
function limitedEngine(limits: Partial<RunEngineOptions>): RunEngine {
  return new RunEngine({
    pool: fixture.pool,
    deploymentId: 'test',
    source: '/test',
    releaseDelaysMs: [0],
    ...limits,
  });
}

describe('the event of a retried run', () => {
  it('is written with the reason when an attempt ends without ending the run, and not when the run fails for good', async () => {
    const [dead, alive] = [await fixture.worker(), await fixture.worker()];
    await fixture.engine.createRun(aRun());
    const { runId, threadId, assistantId } = await claimOne(dead);
    await letLeaseLapse(dead);
    await fixture.engine.sweep();
    for (const release of [{}, { isQuarantined: true }, { failure }, { failure }]) {
      await fixture.engine.releaseRun((await claimOne(alive)).fence, release);
    }
    const rows = await fixture.rows(
      `SELECT event FROM outbox WHERE key = $1 AND event->>'type' = 'runyard.run.retried' ORDER BY id`,
      [threadId],
    );
    const run = { deployment_id: 'test', run_id: runId, thread_id: threadId, assistant_id: assistantId };
    expect(rows.map(({ event }) => (event as { data: object }).data)).toEqual([
      { ...run, attempt: 1, reason: 'worker_lost' },
      { ...run, attempt: 2, reason: 'handed_over' },
      { ...run, attempt: 3, reason: 'failed' },
      { ...run, attempt: 4, reason: 'failed' },
    ]);
    expect(rows.every(({ event }) => conforms(RunRetried, event))).toBe(true);
  });
});

describe('a sweep', () => {
  it('resumes the runs of a worker whose lease expired, and leaves those of others', async () => {
    const [dead, alive] = [await fixture.worker(), await fixture.worker()];
    await fixture.engine.createRun(aRun());
    const lost = await claimOne(dead);
    await fixture.engine.createRun(aRun());
    const kept = await claimOne(alive);
    await letLeaseLapse(dead);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [lost.runId], ended: [] });
    const resumed = await claimOne(alive);
    expect(resumed).toMatchObject({ runId: lost.runId, attempt: 2 });
    // The lease that expired was renewed when it began.
    expect(resumed.lostForMs).toBeGreaterThanOrEqual(120_000);
    expect(resumed.lostForMs).toBeLessThan(180_000);
    await fixture.engine.releaseRun(resumed.fence);
    expect(await claimOne(alive)).toMatchObject({ runId: lost.runId, attempt: 3, lostForMs: null });
    expect(await fixture.engine.getRun(kept.threadId, kept.runId)).toMatchObject({ status: 'running', attempt: 1 });
  });

  it('resumes the runs of a worker that is not registered at all', async () => {
    const worker = await fixture.worker();
    await fixture.engine.createRun(aRun());
    const run = await claimOne(worker);
    await fixture.engine.removeWorker(worker);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [run.runId] });
  });

  it('resumes the runs of a lost worker even when the clock was set back since', async () => {
    const [lost, alive] = [await fixture.worker(), await fixture.worker()];
    await fixture.engine.createRun(aRun());
    const run = await claimOne(lost);
    await fixture.engine.createRun(aRun());
    await claimOne(alive);
    await fixture.pool.query(`UPDATE worker SET lease_until = now() + interval '1 hour' WHERE worker_id = $1`, [lost]);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [run.runId] });
  });

  it('takes no run from any worker for the length of a lease after the clock was set', async () => {
    const own = { behindMs: 0 };
    const engine = new RunEngine({
      pool: fixture.pool,
      deploymentId: 'test',
      source: '/test',
      leaseMs: 300,
      now: () => performance.now() - own.behindMs,
    });
    await engine.sweep();
    const worker = await fixture.worker();
    await engine.createRun(aRun());
    const run = await claimOne(worker);
    // The database's clock is an hour ahead of this process's: by it all leases have expired.
    own.behindMs = 3_600_000;
    await letLeaseLapse(worker);
    expect(await engine.sweep()).toMatchObject({ resumedRunIds: [] });
    const { resumedRunIds } = await waitFor(async () => {
      const swept = await engine.sweep();
      return swept.resumedRunIds.length > 0 ? swept : undefined;
    });
    expect(resumedRunIds).toEqual([run.runId]);
    await engine.close();
  });

  it('ends a run with a named error once it failed too often', async () => {
    const { run } = await fixture.engine.createRun(aRun({ keepsThread: true }));
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const worker = await fixture.worker();
      const claimed = await claimOne(worker);
      expect(claimed.attempt).toBe(attempt);
      await letLeaseLapse(worker);
      const { ended, resumedRunIds } = await fixture.engine.sweep();
      expect(resumedRunIds).toHaveLength(attempt < 3 ? 1 : 0);
      expect(ended).toMatchObject(attempt < 3 ? [] : [{ runId: run.runId, status: 'error', attempt: 3 }]);
    }
    const error = { error: 'RunAttemptsExhausted', message: expect.stringContaining('3 failed attempts') };
    expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({ status: 'error', error });
    expect(await fixture.rows('SELECT status FROM thread')).toEqual([{ status: 'error' }]);
  });

  it.each(['interrupt', 'rollback'] as const)('ends a cancelled run whose worker is lost (%s)', async (action) => {
    const worker = await fixture.worker();
    const { run } = await fixture.engine.createRun(aRun({ keepsThread: true }));
    await claimOne(worker);
    await fixture.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, action, 'asked');
    await letLeaseLapse(worker);
    const { ended } = await fixture.engine.sweep();
    expect(ended).toMatchObject([{ runId: run.runId, status: 'interrupted', isRolledBack: action === 'rollback' }]);
    expect(ended[0]!.cancelledForMs).toBeGreaterThan(0);
    const stored = await fixture.engine.getRun(run.threadId, run.runId);
    expect(stored?.status).toBe(action === 'rollback' ? undefined : 'interrupted');
  });

  it('reports runs that wait although nobody was woken for them', async () => {
    await fixture.engine.createRun(aRun());
    expect(await fixture.engine.sweep()).toMatchObject({ hasUnclaimedRuns: false });
    await fixture.pool.query(
      `UPDATE run SET ready_at = now() - interval '1 minute', updated_at = now() - interval '1 minute'`,
    );
    await fixture.pool.query('UPDATE deployment SET floors_read_at = NULL');
    expect(await fixture.engine.sweep()).toMatchObject({ hasUnclaimedRuns: true });
  });

  it('removes expired stateless runs, and expired results of others', async () => {
    const worker = await fixture.worker();
    for (const keepsThread of [true, false]) {
      await fixture.engine.createRun(aRun({ keepsThread }));
      await fixture.engine.finishRun(success(await claimOne(worker)));
    }
    expect(await fixture.engine.sweep()).toMatchObject({ removedRuns: 0 });
    await fixture.pool.query(`UPDATE run SET ended_at = now() - interval '2 hours'`);
    expect(await fixture.engine.sweep()).toMatchObject({ removedRuns: 1, removedResults: 2 });
    expect(await fixture.rows('SELECT keeps_thread, result FROM run')).toEqual([{ keeps_thread: true, result: null }]);
  });

  it("keeps the planner's statistics fresh while the database is young", async () => {
    await fixture.rows(
      `INSERT INTO run (run_id, thread_id, assistant_id, kwargs, status)
       SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '{}', 'success' FROM generate_series(1, 1000)`,
    );
    await waitFor(async () => {
      await fixture.engine.sweep();
      const [table] = await fixture.rows(`SELECT reltuples FROM pg_class WHERE relname = 'run'`);
      return table!.reltuples === 1000;
    });
  });

  it('in several processes at once takes each run once', async () => {
    const worker = await fixture.worker();
    await Promise.all(Array.from({ length: 20 }, () => fixture.engine.createRun(aRun())));
    await fixture.engine.claimRuns(worker, 20);
    await letLeaseLapse(worker);
    const sweeps = await Promise.all(Array.from({ length: 4 }, () => fixture.engine.sweep()));
    const resumed = sweeps.flatMap(({ resumedRunIds }) => resumedRunIds);
    expect(resumed).toHaveLength(20);
    expect(new Set(resumed).size).toBe(20);
  });
});

describe('a worker', () => {
  it('that renews in time keeps its runs', async () => {
    const worker = await fixture.worker();
    await fixture.engine.createRun(aRun());
    const run = await claimOne(worker);
    expect(await fixture.engine.renewLease(worker, [run.fence])).toEqual({
      isRegistered: true,
      orders: [],
      lost: [],
      unheld: [],
    });
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [] });
  });

  it('learns with its renewal which runs it lost, also one that it holds again in a later attempt', async () => {
    const worker = await fixture.worker();
    await fixture.engine.createRun(aRun());
    const first = await claimOne(worker);
    await letLeaseLapse(worker);
    await fixture.engine.sweep();
    await fixture.engine.renewLease(worker, []);
    const second = await claimOne(worker);
    expect(second.runId).toBe(first.runId);
    expect(await fixture.engine.renewLease(worker, [first.fence])).toMatchObject({ lost: [first.fence] });
    expect(await fixture.engine.renewLease(worker, [second.fence])).toMatchObject({ lost: [] });
  });

  it('learns of a run whose claim never reached it', async () => {
    const worker = await fixture.worker();
    await fixture.engine.createRun(aRun());
    const run = await claimOne(worker);
    const { unheld } = await fixture.engine.renewLease(worker, []);
    expect(unheld).toEqual([run.fence]);
    expect(await fixture.engine.releaseRun(unheld[0]!)).toEqual({ outcome: 'pending' });
  });

  it('whose row was deleted has to register again', async () => {
    expect(await fixture.engine.renewLease(randomUUID(), [])).toMatchObject({ isRegistered: false });
  });

  it('releases a run without using up an attempt', async () => {
    await fixture.engine.createRun(aRun());
    for (let handOver = 0; handOver < 5; handOver += 1) {
      const run = await claimOne(await fixture.worker());
      expect(await fixture.engine.releaseRun(run.fence)).toEqual({ outcome: 'pending' });
      await expect(fixture.engine.releaseRun(run.fence)).rejects.toMatchObject({ name: 'FencedError' });
    }
  });

  it('that reports a failed attempt uses one up', async () => {
    await fixture.engine.createRun(aRun());
    const outcomes = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const run = await claimOne(await fixture.worker());
      outcomes.push((await fixture.engine.releaseRun(run.fence, { failure })).outcome);
    }
    expect(outcomes).toEqual(['pending', 'pending', 'ended']);
  });

  it('may fail any number of attempts that each made progress', async () => {
    await fixture.engine.createRun(aRun({ keepsThread: true }));
    const client = await fixture.pool.connect();
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      const run = await claimOne(await fixture.worker());
      await writeCheckpointUnderFence(client, run, `checkpoint-${attempt}`);
      expect(await fixture.engine.releaseRun(run.fence, { failure })).toEqual({ outcome: 'pending' });
    }
    const outcomes = [];
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const run = await claimOne(await fixture.worker());
      outcomes.push((await fixture.engine.releaseRun(run.fence, { failure })).outcome);
    }
    expect(outcomes).toEqual(['pending', 'ended']);
    client.release();
  });

  it('makes no progress with what a subgraph alone has stored, because the next attempt begins again', async () => {
    await fixture.engine.createRun(aRun({ keepsThread: true }));
    const client = await fixture.pool.connect();
    const outcomes = [];
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const run = await claimOne(await fixture.worker());
      await writeCheckpointUnderFence(client, run, `checkpoint-${attempt}`, 'subgraph');
      outcomes.push((await fixture.engine.releaseRun(run.fence, { failure })).outcome);
    }
    client.release();
    expect(outcomes).toEqual(['pending', 'pending', 'ended']);
  });

  it('makes progress with the steps of a subgraph once its graph has stored where it is', async () => {
    await fixture.engine.createRun(aRun({ keepsThread: true }));
    const client = await fixture.pool.connect();
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      const run = await claimOne(await fixture.worker());
      await writeCheckpointUnderFence(client, run, `checkpoint-${attempt}`, attempt === 1 ? '' : 'subgraph');
      expect(await fixture.engine.releaseRun(run.fence, { failure })).toEqual({ outcome: 'pending' });
    }
    client.release();
  });

  it('releases a run that waits longer after each attempt, whatever the outage seems to be', async () => {
    const engine = new RunEngine({ pool: fixture.pool, deploymentId: 'test', source: '/test' });
    const { run } = await engine.createRun(aRun());
    const delays = [];
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      await fixture.pool.query('UPDATE run SET ready_at = now()');
      await engine.releaseRun((await claimOne(await fixture.worker())).fence);
      const [row] = await fixture.rows(
        'SELECT round(extract(epoch FROM ready_at - updated_at))::integer AS delay FROM run WHERE run_id = $1',
        [run.runId],
      );
      delays.push(row!.delay);
    }
    expect(delays).toEqual([0, 1, 2, 5, 10, 20, 40, 60, 60]);
    await engine.close();
  });

  it('ends a run after its largest number of attempts whatever ended them, and says what the last one was', async () => {
    const engine = limitedEngine({ maxAttempts: 3 });
    const cause = { error: 'StorageUnavailable', message: 'not now' };
    const { run } = await engine.createRun(aRun({ keepsThread: true }));
    const outcomes = [];
    for (const release of [{}, { isQuarantined: true }, { cause }]) {
      outcomes.push((await engine.releaseRun((await claimOne(await fixture.worker())).fence, release)).outcome);
    }
    expect(outcomes).toEqual(['pending', 'pending', 'ended']);
    expect(await engine.getRun(run.threadId, run.runId)).toMatchObject({
      status: 'error',
      error: {
        error: 'RunAttemptLimitReached',
        message: 'The run was given up after 3 attempts; the last ended with StorageUnavailable: not now',
      },
    });
    await engine.close();
  });

  it('that stops hands a run back as often as is allowed, whatever else ends its attempts, and then ends it', async () => {
    const engine = limitedEngine({ maxDrains: 2 });
    const { run } = await engine.createRun(aRun({ keepsThread: true }));
    const outcomes = [];
    for (const release of [
      { isDrained: true },
      {},
      { isQuarantined: true },
      { isDrained: true },
      { isDrained: true },
    ]) {
      outcomes.push((await engine.releaseRun((await claimOne(await fixture.worker())).fence, release)).outcome);
    }
    expect(outcomes).toEqual(['pending', 'pending', 'pending', 'pending', 'ended']);
    expect(await engine.getRun(run.threadId, run.runId)).toMatchObject({
      status: 'error',
      error: { error: 'RunDrainLimitReached', message: expect.stringContaining('stopped 3 times') },
    });
    await engine.close();
  });

  it('that does not know which run crashed its host charges none and quarantines them', async () => {
    await fixture.engine.createRun(aRun());
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const run = await claimOne(await fixture.worker());
      expect(run.isQuarantined).toBe(attempt > 1);
      expect(await fixture.engine.releaseRun(run.fence, { isQuarantined: true })).toEqual({ outcome: 'pending' });
    }
  });
});
