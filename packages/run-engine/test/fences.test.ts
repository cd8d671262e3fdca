import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
let refused: number;
beforeEach(async () => {
  refused = 0;
  fixture = await openEngine({ onStaleWrite: () => (refused += 1) });
});
afterEach(() => fixture.close());

async function claimedRun(): Promise<{ run: ClaimedRun; worker: string }> {
  await fixture.engine.createRun(aRun({ keepsThread: true }));
  const worker = await fixture.worker();
  const [run] = await fixture.engine.claimRuns(worker, 1);
  return { run: run!, worker };
}

/** Ends a worker's lease, which is what other processes see of a stopped worker. */
async function letLeaseLapse(worker: string): Promise<void> {
  await fixture.pool.query('UPDATE worker SET lease_until = now() WHERE worker_id = $1', [worker]);
}

it('a stale batch is refused even if its transaction began before the takeover', async () => {
  const { run, worker } = await claimedRun();
  const stale = await fixture.pool.connect();
  await stale.query('BEGIN');
  await stale.query('SELECT 1');

  await letLeaseLapse(worker);
  await fixture.engine.sweep();
  const [retaken] = await fixture.engine.claimRuns(await fixture.worker(), 1);
  expect(retaken).toMatchObject({ runId: run.runId, attempt: 2 });

  expect(await writeCheckpointUnderFence(stale, run, randomUUID())).toBe('fenced');
  await stale.query('COMMIT');
  stale.release();
});

it('a takeover waits for the batch in flight, and the next attempt sees what it wrote', async () => {
  const { run, worker } = await claimedRun();
  const writer = await fixture.pool.connect();
  await writer.query('BEGIN');
  expect(await writeCheckpointUnderFence(writer, run, randomUUID())).toBe('written');

  await letLeaseLapse(worker);
  const sweep = fixture.engine.sweep();
  await waitFor(async () => {
    const waiting = await fixture.rows(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'
                                        AND datname = current_database()`);
    return waiting.length > 0;
  });
  expect(await fixture.engine.claimRuns(await fixture.worker(), 1)).toEqual([]);
  await writer.query('COMMIT');
  writer.release();

  expect(await sweep).toMatchObject({ resumedRunIds: [run.runId] });
  const [retaken] = await fixture.engine.claimRuns(await fixture.worker(), 1);
  expect(retaken).toMatchObject({ runId: run.runId });
  expect(await fixture.rows('SELECT run_id FROM checkpoint')).toEqual([{ run_id: run.runId }]);
});

it('a stale finish is refused, and the other finishes of its batch are not', async () => {
  const { run: stale, worker } = await claimedRun();
  const { run: good } = await claimedRun();
  await letLeaseLapse(worker);
  await fixture.engine.sweep();
  const results = await Promise.allSettled([
    fixture.engine.finishRun(success(stale)),
    fixture.engine.finishRun(success(good)),
  ]);
  expect(results).toMatchObject([
    { status: 'rejected', reason: { name: 'FencedError' } },
    { status: 'fulfilled', value: { status: 'success' } },
  ]);
  expect(await fixture.engine.getRun(stale.threadId, stale.runId)).toMatchObject({ status: 'pending' });
  expect(refused).toBe(1);
});

it('a finished attempt can write nothing more', async () => {
  const { run } = await claimedRun();
  await fixture.engine.finishRun(success(run));
  await expect(fixture.engine.finishRun(success(run, { status: 'error' }))).rejects.toMatchObject({
    name: 'FencedError',
  });
  const client = await fixture.pool.connect();
  expect(await writeCheckpointUnderFence(client, run, randomUUID())).toBe('fenced');
  client.release();
});

it('an epoch is not used twice when a crash of the database undoes a claim', async () => {
  const { run } = await claimedRun();
  // The claim's commit did not wait for the disk: after a crash the row is what it was before.
  await fixture.pool.query('UPDATE thread_fence SET epoch = 0, run_id = NULL WHERE thread_id = $1', [run.threadId]);
  await fixture.pool.query(`UPDATE run SET status = 'pending', attempt = 0, epoch = NULL WHERE run_id = $1`, [
    run.runId,
  ]);
  const [again] = await fixture.engine.claimRuns(await fixture.worker(), 1);
  expect(again!.fence.epoch).toBeGreaterThan(run.fence.epoch);
});
