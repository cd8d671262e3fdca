import { withTransaction } from '@runyard/database';
import type pg from 'pg';
import { lockOwnedRuns, lockThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { type ReleaseOptions, releaseRuns } from '../runs/release-runs.ts';
import type { ClockWatch } from './clock-watch.ts';
import { databaseTime } from './leases.ts';
import { refreshTableStatistics } from './table-statistics.ts';
import type { SweepResult, TakenRuns } from './types.ts';

export interface SweepOptions extends ReleaseOptions {
  /** How long the result of an ended run is kept on its row, and the row of one whose thread is not kept. */
  resultTtlMs: number;
  /** A run that is ready this long without having been claimed counts as forgotten. */
  forgottenAfterMs: number;
  clock: ClockWatch;
}

const BATCH = 200;
const ATTEMPTS = 5;
const WORKER_LOST = { error: 'WorkerLost', message: 'The worker stopped without finishing the run.' };

/** One pass over what nobody else will look at any more. Safe to run in several processes at once. */
export async function sweep(db: pg.Pool, options: SweepOptions, events: RunEvents): Promise<SweepResult> {
  const taken = await takeRunsOfLost(db, options, events);
  await forgetLapsedWorkers(db);
  await refreshTableStatistics(db);
  const removed = await removeOldResults(db, options.resultTtlMs);
  const isForgotten = await hasForgottenRuns(db, options.forgottenAfterMs);
  return { ...taken, ...removed, hasForgottenRuns: isForgotten };
}

/** The part of a sweep that runs wait for. Safe to run in several processes at once. */
export async function takeRunsOfLost(db: pg.Pool, options: SweepOptions, events: RunEvents): Promise<TakenRuns> {
  await options.clock.read(
    () => databaseTime(db),
    (ms) => ms,
  );
  // Leases end by the database's clock. Those who live renew theirs after it was set.
  return options.clock.isBelieved ? takeRunsOfLapsedWorkers(db, options, events) : { resumedRunIds: [], ended: [] };
}

/** `cancelledOnly`: those that are to end anyway, and not to be executed by anybody. */
export async function takeRunsOfLapsedWorkers(
  db: pg.Pool,
  options: ReleaseOptions & { cancelledOnly?: boolean },
  events: RunEvents,
): Promise<TakenRuns> {
  const result: TakenRuns = { resumedRunIds: [], ended: [] };
  for (;;) {
    const threadIds = await lapsedThreads(db, { cancelledOnly: options.cancelledOnly ?? false });
    if (threadIds.length === 0) return result;
    await withTransaction(
      db,
      async (client) => {
        await lockThreads(client, threadIds);
        const owned = await lockOwnedRuns(client, threadIds);
        // Meanwhile the run may have ended, or its worker may have come back to its lease.
        const stillLapsed = new Set(await lapsedThreads(client, { among: threadIds }));
        const runs = [...owned.values()].filter((run) => stillLapsed.has(run.threadId));
        const released = await releaseRuns(
          client,
          runs.map((run) => ({ run, failure: WORKER_LOST, isLost: true })),
          options,
          events,
        );
        for (const run of runs) {
          const outcome = released.get(run.runId)!;
          if (outcome.outcome === 'pending') result.resumedRunIds.push(run.runId);
          else {
            const { outcome: _ended, ...end } = outcome;
            // Above the lost attempt's and below the next one's: its worker, should it live, can append nothing behind the end.
            const fence = { threadId: run.threadId, epoch: run.epoch + 1n, runId: run.runId };
            result.ended.push({ runId: run.runId, attempt: run.attempt, ...end, fence });
          }
        }
      },
      { attempts: ATTEMPTS },
    );
    if (threadIds.length < BATCH) return result;
  }
}

async function lapsedThreads(
  db: pg.Pool | pg.ClientBase,
  { among, cancelledOnly = false }: { among?: string[]; cancelledOnly?: boolean },
): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'engine_threads_of_lapsed',
    text: `SELECT r.thread_id FROM run r LEFT JOIN worker w ON w.worker_id = r.worker_id
           WHERE r.status = 'running' AND (w.worker_id IS NULL OR w.lease_until <= now()
             OR w.lease_until > now() + make_interval(secs => w.lease_ms / 500.0))
             AND ($1::uuid[] IS NULL OR r.thread_id = ANY($1::uuid[]))
             AND (NOT $2::boolean OR r.cancel_action IS NOT NULL)
           LIMIT ${BATCH}`,
    values: [among ?? null, cancelledOnly],
  });
  return rows.map((row) => row.thread_id);
}

/** A lapsed worker that holds nothing is not coming back; if it does, it registers anew. */
async function forgetLapsedWorkers(db: pg.Pool): Promise<void> {
  await db.query(`DELETE FROM worker w WHERE w.lease_until < now() - interval '1 minute'
                  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.worker_id = w.worker_id AND r.status = 'running')`);
}

async function removeOldResults(
  db: pg.Pool,
  resultTtlMs: number,
): Promise<Pick<SweepResult, 'removedRuns' | 'removedResults'>> {
  const { rows } = await db.query<Pick<SweepResult, 'removedRuns' | 'removedResults'>>({
    name: 'engine_remove_old_results',
    text: `WITH old AS (
             SELECT run_id, keeps_thread FROM run
             WHERE ended_at < now() - make_interval(secs => $1::float8 / 1000)
               AND ended_at IS NOT NULL AND (result IS NOT NULL OR NOT keeps_thread)
             ORDER BY ended_at LIMIT 1000 FOR UPDATE SKIP LOCKED
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

async function hasForgottenRuns(db: pg.Pool, forgottenAfterMs: number): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>({
    name: 'engine_has_forgotten_runs',
    text: `SELECT EXISTS (
             SELECT 1 FROM run r JOIN thread_fence f ON f.thread_id = r.thread_id
             WHERE r.status = 'pending' AND f.run_id IS NULL
               AND r.ready_at <= now() - make_interval(secs => $1::float8 / 1000)
               AND r.updated_at <= now() - make_interval(secs => $1::float8 / 1000)
           ) AS found`,
    values: [forgottenAfterMs],
  });
  return rows[0]!.found;
}
