import { randomUUID } from 'node:crypto';
import { RunStarted } from '@runyard/contracts';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeEach(async () => {
  fixture = await openEngine();
});
afterEach(() => fixture.close());

async function createOn(threadId: string, count: number): Promise<string[]> {
  const created = await Promise.all(Array.from({ length: count }, () => fixture.engine.createRun(aRun({ threadId }))));
  return created.map(({ run }) => run.runId);
}

describe('a claim', () => {
  it('returns everything needed to execute the run, under a new epoch', async () => {
    const { run } = await fixture.engine.createRun(aRun({ kwargs: { input: 1 }, metadata: { a: 1 } }));
    const [claimed] = await fixture.engine.claimRuns(await fixture.worker(), 10);
    expect(claimed).toMatchObject({
      runId: run.runId,
      attempt: 1,
      kwargs: { input: 1 },
      metadata: { a: 1 },
      keepsThread: false,
      fence: { threadId: run.threadId, runId: run.runId },
    });
    expect(claimed!.fence.epoch).toBeGreaterThan(0n);
    expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({ status: 'running', attempt: 1 });
  });

  it('tells whether anything was written of the state of the thread', async () => {
    const worker = await fixture.worker();
    const claimOn = async (threadId: string) => {
      await fixture.engine.createRun(aRun({ threadId }));
      const [claimed] = await fixture.engine.claimRuns(worker, 10);
      return claimed!;
    };
    const first = await claimOn(await fixture.thread());
    expect(first.isThreadNew).toBe(true);
    await fixture.engine.finishRun(success(first));
    expect((await claimOn(first.threadId)).isThreadNew).toBe(false);

    const updated = await fixture.thread();
    await fixture.engine.beginStateUpdate(updated);
    expect((await claimOn(updated)).isThreadNew).toBe(false);

    const begun = await fixture.thread();
    const { rows } = await fixture.pool.query('SELECT epoch FROM thread_fence WHERE thread_id = $1', [begun]);
    const fence = { threadId: begun, runId: first.runId, epoch: BigInt(rows[0].epoch) };
    const client = await fixture.pool.connect();
    await writeCheckpointUnderFence(client, { ...first, threadId: begun, fence }, 'c1');
    client.release();
    expect((await claimOn(begun)).isThreadNew).toBe(false);
  });

  it('takes the first in line of named runs and named threads', async () => {
    const threadId = await fixture.thread();
    const [first] = await createOn(threadId, 2);
    const { run: named } = await fixture.engine.createRun(aRun());
    await fixture.engine.createRun(aRun());
    const worker = await fixture.worker();
    const among = { runIds: [named.runId], threadIds: [threadId] };
    const taken = await fixture.engine.claimRuns(worker, 10, { among });
    expect(taken.map(({ runId }) => runId).sort()).toEqual([first, named.runId].sort());
    expect(await fixture.engine.claimRuns(worker, 10, { among })).toEqual([]);
  });

  it('takes as many quarantined runs as there are isolated hosts', async () => {
    await Promise.all([1, 2, 3].map(() => fixture.engine.createRun(aRun())));
    const worker = await fixture.worker();
    for (const { fence } of await fixture.engine.claimRuns(worker, 3)) {
      await fixture.engine.releaseRun(fence, { isQuarantined: true });
    }
    const { run: other } = await fixture.engine.createRun(aRun());
    expect(await fixture.engine.claimRuns(worker, 10, { quarantinedMax: 0 })).toMatchObject([{ runId: other.runId }]);
    expect(await fixture.engine.claimRuns(worker, 10, { quarantinedMax: 2 })).toMatchObject([
      { isQuarantined: true },
      { isQuarantined: true },
    ]);
    expect(await fixture.engine.claimRuns(worker, 10)).toMatchObject([{ isQuarantined: true }]);
  });

  it('writes the start as a valid event', async () => {
    await fixture.engine.createRun(aRun());
    await fixture.engine.claimRuns(await fixture.worker(), 10);
    const [, started] = await fixture.rows('SELECT event FROM outbox ORDER BY id');
    const event = started!.event as Record<string, unknown>;
    expect(Object.keys(event).sort()).toEqual(Object.keys(RunStarted.properties).sort());
    expect(event).toMatchObject({ type: 'runyard.run.started', data: { attempt: 1, deployment_id: 'test' } });
    expect(Number.isNaN(Date.parse(event.time as string))).toBe(false);
  });

  it('never takes two waiting runs of one thread', async () => {
    const threadId = await fixture.thread();
    const [first] = await createOn(threadId, 2);
    const claimed = await fixture.engine.claimRuns(await fixture.worker(), 10);
    expect(claimed.map((run) => run.runId)).toEqual([first]);
    expect(await fixture.engine.claimRuns(await fixture.worker(), 10)).toEqual([]);
  });

  it('by many workers at once takes every run once and one per thread', async () => {
    const threads = await Promise.all(Array.from({ length: 40 }, () => fixture.thread()));
    await Promise.all(threads.map((threadId) => createOn(threadId, 3)));
    const workers = await Promise.all(Array.from({ length: 8 }, () => fixture.worker()));
    const claims = await Promise.all(workers.map((worker) => fixture.engine.claimRuns(worker, 25)));
    const claimed = claims.flat();
    expect(new Set(claimed.map((run) => run.threadId)).size).toBe(claimed.length);
    // A claim skips fences that another one holds at that moment; a further claim gets them.
    claimed.push(...(await fixture.engine.claimRuns(workers[0]!, 100)));
    expect(claimed).toHaveLength(40);
    expect(new Set(claimed.map((run) => run.threadId)).size).toBe(40);
  });

  it('takes the runs of a thread in the order of acceptance', async () => {
    const threadId = await fixture.thread();
    const accepted = await createOn(threadId, 5);
    const worker = await fixture.worker();
    const order: string[] = [];
    for (const _ of accepted) {
      const [run] = await fixture.engine.claimRuns(worker, 10);
      order.push(run!.runId);
      const { hasNextRun } = await fixture.engine.finishRun(success(run!));
      expect(hasNextRun).toBe(order.length < accepted.length);
    }
    expect(order).toEqual(accepted);
  });

  it('leaves a delayed run until it is ready, and the others of its thread do not wait for it', async () => {
    const threadId = await fixture.thread();
    const delayed = await fixture.engine.createRun(aRun({ threadId, afterSeconds: 3600 }));
    const [prompt] = await createOn(threadId, 1);
    const worker = await fixture.worker();
    const [claimed] = await fixture.engine.claimRuns(worker, 10);
    expect(claimed!.runId).toBe(prompt);
    expect(await fixture.engine.finishRun(success(claimed!))).toMatchObject({ hasNextRun: false });
    expect(await fixture.engine.claimRuns(worker, 10)).toEqual([]);
    await fixture.pool.query('UPDATE run SET ready_at = now() WHERE run_id = $1', [delayed.run.runId]);
    expect(await fixture.engine.claimRuns(worker, 10)).toHaveLength(1);
  });

  it('takes a run that has begun before all others of its thread, even before a delayed one that was accepted earlier', async () => {
    const threadId = await fixture.thread();
    const { run: delayed } = await fixture.engine.createRun(aRun({ threadId, afterSeconds: 3_600 }));
    const { run } = await fixture.engine.createRun(aRun({ threadId }));
    const worker = await fixture.worker();
    const [begun] = await fixture.engine.claimRuns(worker, 10);
    await fixture.engine.releaseRun(begun!.fence, { failure: { error: 'Lost', message: 'away' } });
    await fixture.pool.query('UPDATE run SET ready_at = created_at WHERE run_id = $1', [delayed.runId]);
    const [again] = await fixture.engine.claimRuns(worker, 10);
    expect(again).toMatchObject({ runId: run.runId, attempt: 2 });
    await fixture.engine.finishRun(success(again!));
    expect(await fixture.engine.claimRuns(worker, 10)).toMatchObject([{ runId: delayed.runId }]);
  });

  it('is refused to a worker of another revision, one that drains, one whose lease expired and an unknown one', async () => {
    await fixture.engine.createRun(aRun());
    const [old, draining, lapsed] = [
      await fixture.worker('old'),
      await fixture.worker('new'),
      await fixture.worker('new'),
    ];
    await fixture.engine.activateRevision('new');
    await fixture.engine.drainWorker(draining);
    await fixture.pool.query('UPDATE worker SET lease_until = now() WHERE worker_id = $1', [lapsed]);
    for (const worker of [old, draining, lapsed, randomUUID()]) {
      expect(await fixture.engine.claimRuns(worker, 10)).toEqual([]);
    }
    expect(await fixture.engine.claimRuns(await fixture.worker('new'), 10)).toHaveLength(1);
  });

  it('survives a run started outside the fence: the unique index refuses it, and the other runs are taken', async () => {
    const threadId = await fixture.thread();
    const [intruder, victim] = await createOn(threadId, 2);
    const other = await fixture.engine.createRun(aRun());
    const client = await fixture.pool.connect();
    let left = 0;
    fixture.pool.on('remove', () => {
      left += 1;
    });
    await client.query('BEGIN');
    await client.query(`UPDATE run SET status = 'running' WHERE run_id = $1`, [victim]);
    const claim = fixture.engine.claimRuns(await fixture.worker(), 10);
    // The claim waits at the index until the intruder's transaction ends.
    await waitFor(async () => {
      const waiting = await fixture.rows(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                                          AND datname = current_database()`);
      return waiting.length > 0;
    });
    await client.query('COMMIT');
    client.release();
    expect((await claim).map((run) => run.runId)).toEqual([other.run.runId]);
    expect(intruder).not.toBe(victim);
    // On a separate connection the second try would meet the locks of the first.
    expect(left).toBe(0);
  });
});

describe('50 creates at once on one thread', () => {
  it.each(['reject', 'enqueue', 'interrupt', 'rollback'] as const)(
    'never have two running under %s',
    async (strategy) => {
      const threadId = await fixture.thread();
      const workers = await Promise.all(Array.from({ length: 4 }, () => fixture.worker()));
      let isCreating = true;
      let claims = 0;
      const work = workers.map(async (worker) => {
        for (;;) {
          const wasCreating = isCreating;
          const claimed: ClaimedRun[] = await fixture.engine.claimRuns(worker, 10);
          const running = await fixture.rows(`SELECT thread_id FROM run WHERE status = 'running'`);
          expect(running.length).toBeLessThanOrEqual(1);
          expect(claimed.length).toBeLessThanOrEqual(1);
          for (const run of claimed) {
            claims += 1;
            await fixture.engine.finishRun(success(run));
          }
          if (!wasCreating && claimed.length === 0) return;
        }
      });
      const results = await Promise.allSettled(
        Array.from({ length: 50 }, () => fixture.engine.createRun(aRun({ threadId, multitaskStrategy: strategy }))),
      );
      isCreating = false;
      await Promise.all(work);

      const accepted = results.filter((result) => result.status === 'fulfilled').length;
      const byStatus = await fixture.rows('SELECT status, count(*)::int FROM run GROUP BY status');
      const count = (status: string) => (byStatus.find((row) => row.status === status)?.count as number) ?? 0;
      expect(count('pending') + count('running')).toBe(0);
      if (strategy === 'reject') expect(count('success')).toBe(accepted);
      else expect(accepted).toBe(50);
      if (strategy === 'enqueue') expect(count('success')).toBe(50);
      expect(claims).toBeGreaterThan(0);
      const [thread] = await fixture.rows('SELECT status FROM thread WHERE thread_id = $1', [threadId]);
      expect(thread!.status).toBe('idle');
    },
  );
});
