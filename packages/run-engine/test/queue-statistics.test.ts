import { afterEach, beforeEach, expect, it } from 'vitest';
import { QUEUE_STATISTICS } from '../src/queue-statistics.ts';
import { aRun, type EngineFixture, openEngine } from './engine-fixture.ts';

let fixture: EngineFixture;
beforeEach(async () => {
  fixture = await openEngine();
});
afterEach(() => fixture.close());

/** Creates a run that has been ready for as many seconds. */
async function waitingRun(threadId: string, seconds: number): Promise<void> {
  const { run } = await fixture.engine.createRun(aRun({ threadId }));
  await fixture.rows('UPDATE run SET ready_at = now() - make_interval(secs => $2) WHERE run_id = $1', [
    run.runId,
    seconds,
  ]);
}

it('the longest wait of all runs counts those behind a running one, that of unblocked runs does not', async () => {
  const empty = { pendingRuns: 0, pendingWaitMax: 0, pendingWaitMedian: 0, unblockedWaitMax: 0 };
  expect(await fixture.engine.readQueueStatistics()).toMatchObject(empty);
  const [busy, free] = [await fixture.thread(), await fixture.thread()];
  await fixture.engine.createRun(aRun({ threadId: busy }));
  await fixture.engine.claimRuns(await fixture.worker(), 1);
  await waitingRun(busy, 7_200);
  await waitingRun(busy, 3_600);
  await waitingRun(free, 600);
  const statistics = await fixture.engine.readQueueStatistics();
  expect(statistics).toMatchObject({ pendingRuns: 3, runningRuns: 1, runsAwaitingKeys: 0 });
  const minutes = [statistics.pendingWaitMax, statistics.pendingWaitMedian, statistics.unblockedWaitMax];
  expect(minutes.map((seconds) => Math.floor(seconds / 60))).toEqual([120, 60, 10]);
});

it('the statistics read the waiting runs once, and no fences, of which there are as many as threads', async () => {
  const [explained] = await fixture.rows(`EXPLAIN (FORMAT JSON) ${QUEUE_STATISTICS.text}`);
  const plan = JSON.stringify(explained);
  expect(plan).not.toContain('"thread_fence"');
  // The scan of waiting runs, the count of running ones, the running ones' threads, and two for runs whose key is missed.
  expect(plan.match(/"Relation Name":"run"/g)).toHaveLength(5);
});
