import type pg from 'pg';
import { sweepBudgets } from '../budgets/sweep-budgets.ts';
import { CLAIM_FLOOR, moveQueueFloors } from '../queue/queue-floors.ts';
import { nextRunId } from '../queue/thread-heads.ts';
import type { ClockWatch } from './clock-watch.ts';
import { correctHeads } from './correct-heads.ts';
import { readRunningState } from './leases.ts';
import { refreshTableStatistics } from './table-statistics.ts';
import { type TakeBackOptions, takeBackRuns } from './take-back-runs.ts';
import type { LostRunsSweep, SweepResult } from './types.ts';

export interface SweepOptions extends TakeBackOptions {
  /**
   * Milliseconds for which the result of an ended run stays on its row, and the row of a run whose thread is not kept.
   */
  resultTtlMs: number;
  /** Milliseconds after which a ready run that nobody has claimed counts as unclaimed. */
  unclaimedAfterMs: number;
  clock: ClockWatch;
}

type RemovedResults = Pick<SweepResult, 'removedRuns' | 'removedResults'>;

const RESULT_BATCH = 1_000;
const RESULT_BATCHES_MAX = 10;

/** Repairs everything that no other process will handle. Safe to run in several processes at once. */
export async function sweep(db: pg.Pool, options: SweepOptions): Promise<SweepResult> {
  const taken = await takeBackLostRuns(db, options);
  await moveQueueFloors(db);
  await correctHeads(db, options.write);
  await deleteExpiredWorkers(db);
  await refreshTableStatistics(db);
  const removed = await removeExpiredResults(db, options.resultTtlMs);
  await sweepBudgets(db);
  const hasUnclaimed = await hasUnclaimedRuns(db, options.unclaimedAfterMs);
  return { ...taken, ...removed, hasUnclaimedRuns: hasUnclaimed };
}

/** Runs the part of a sweep that runs wait for. Safe to run in several processes at once. */
export async function takeBackLostRuns(db: pg.Pool, options: SweepOptions): Promise<LostRunsSweep> {
  const { hasRunningRuns } = await options.clock.read(
    () => readRunningState(db),
    ({ ms }) => ms,
  );
  // Leases end by the database's clock. After it was set, live workers need time to renew theirs.
  const taken =
    hasRunningRuns && options.clock.isTrusted
      ? await takeBackRuns(db, options)
      : { resumedRunIds: [], ended: [], hasLockedThreads: false };
  return { ...taken, hasRunningRuns };
}

/** Deletes expired workers without runs. A worker that comes back registers again. */
async function deleteExpiredWorkers(db: pg.Pool): Promise<void> {
  await db.query(`DELETE FROM worker w WHERE w.lease_until < now() - interval '1 minute'
                  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.worker_id = w.worker_id AND r.status = 'running')`);
}

/** Removes what has expired, up to a number of batches that an interval of the sweep has time for. */
async function removeExpiredResults(db: pg.Pool, resultTtlMs: number): Promise<RemovedResults> {
  const removed = { removedRuns: 0, removedResults: 0 };
  for (let batch = 1; batch <= RESULT_BATCHES_MAX; batch += 1) {
    const { removedRuns, removedResults } = await removeResultBatch(db, resultTtlMs);
    removed.removedRuns += removedRuns;
    removed.removedResults += removedResults;
    if (removedResults < RESULT_BATCH) break;
  }
  return removed;
}

async function removeResultBatch(db: pg.Pool, resultTtlMs: number): Promise<RemovedResults> {
  const { rows } = await db.query<RemovedResults>({
    name: 'engine_remove_expired_results',
    text: `WITH old AS (
             SELECT run_id, keeps_thread FROM run
             WHERE ended_at < now() - make_interval(secs => $1::float8 / 1000)
               AND ended_at IS NOT NULL AND (result IS NOT NULL OR NOT keeps_thread)
             ORDER BY ended_at LIMIT ${RESULT_BATCH} FOR UPDATE SKIP LOCKED
           ), emptied AS (
             UPDATE run r SET result = NULL FROM old WHERE r.run_id = old.run_id AND old.keeps_thread
           ), removed AS (
             DELETE FROM run r USING old WHERE r.run_id = old.run_id AND NOT old.keeps_thread RETURNING 1
           )
           SELECT (SELECT count(*) FROM removed)::integer AS "removedRuns", (SELECT count(*) FROM old)::integer AS "removedResults"`,
    values: [resultTtlMs],
  });
  return rows[0]!;
}

async function hasUnclaimedRuns(db: pg.Pool, unclaimedAfterMs: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'engine_has_unclaimed_runs',
    text: `SELECT EXISTS (
             SELECT 1 FROM thread_fence f JOIN run r ON r.run_id = ${nextRunId('f.thread_id')}
             WHERE f.run_id IS NULL AND f.head_ready_at <= now() - make_interval(secs => $1::float8 / 1000)
               AND f.head_ready_at >= coalesce(${CLAIM_FLOOR}, '-infinity')
               AND r.ready_at <= now() - make_interval(secs => $1::float8 / 1000)
               AND r.updated_at <= now() - make_interval(secs => $1::float8 / 1000)
           ) AS found`,
    values: [unclaimedAfterMs],
  });
  return rows[0]!.found;
}
