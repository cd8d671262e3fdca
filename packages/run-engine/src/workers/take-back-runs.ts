import { isRetryable, mayBeFaultOfOneItem } from '@runyard/database';
import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { lockOwnedRuns, lockUnheldThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { type ReleaseOptions, releaseRuns } from '../runs/release-runs.ts';
import type { TakenBackRuns } from './types.ts';
import { endUnresponsiveSessions } from './unresponsive-sessions.ts';

export interface TakeBackOptions extends ReleaseOptions {
  write: EngineWrites['write'];
  events: RunEvents;
  /**
   * Is called for a thread whose run could not be taken back. Those of other threads were; the next sweep retries it.
   */
  onFailure?: ((threadId: string, error: unknown) => void) | undefined;
}

const BATCH = 200;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** Milliseconds for which a sweep continues rollbacks. Runs of lost workers wait for its end. */
const ROLLBACKS_MS = 1_000;
/**
 * A worker whose run has a cancel order renews ten times per lease. If it was unresponsive for this share of the lease,
 * and has had the order for as long, nobody waits for it: its fence refuses its further writes.
 */
const UNRESPONSIVE_SHARE = 0.2;
const WORKER_LOST = { error: 'WorkerLost', message: 'The worker stopped without finishing the run.' };

interface TakeBackProgress extends TakenBackRuns {
  /** Threads of runs whose rollback takes longer. */
  rollingBack: string[];
}

/**
 * Takes back the runs of lapsed workers, ends cancelled runs of unresponsive ones, and continues unfinished rollbacks.
 * Threads that another transaction has locked are left to the next sweep, which the result asks for.
 *
 * @param options `cancelledOnly`: only runs that have to end, and none that have to be executed
 */
export async function takeBackRuns(
  db: pg.Pool,
  { cancelledOnly = false, ...options }: TakeBackOptions & { cancelledOnly?: boolean },
): Promise<TakenBackRuns> {
  const result: TakeBackProgress = { resumedRunIds: [], ended: [], rollingBack: [], hasLockedThreads: false };
  for (let after: string | undefined = FIRST_ID; after !== undefined; ) {
    const threadIds = await findThreadsOfLostWorkers(db, { after, cancelledOnly });
    if (threadIds.length > 0) await endUnresponsiveSessions(db, UNRESPONSIVE_SHARE);
    await takeTogether(threadIds, options, result);
    after = threadIds.length < BATCH ? undefined : threadIds.at(-1);
  }
  const until = performance.now() + ROLLBACKS_MS;
  while (result.rollingBack.length > 0 && performance.now() < until) {
    await takeTogether(result.rollingBack.splice(0), options, result);
  }
  const { rollingBack: _continued, ...taken } = result;
  return taken;
}

/**
 * Takes back all in one transaction. When that fails, retries in halves, so that the others do not wait for a thread
 * that causes the failure.
 */
async function takeTogether(threadIds: string[], options: TakeBackOptions, result: TakeBackProgress): Promise<void> {
  if (threadIds.length === 0) return;
  try {
    const taken = await options.write((client) => takeBackOnce(client, threadIds, options));
    result.resumedRunIds.push(...taken.resumedRunIds);
    result.ended.push(...taken.ended);
    result.rollingBack.push(...taken.rollingBack);
    result.hasLockedThreads ||= taken.hasLockedThreads;
  } catch (error) {
    if (!mayBeFaultOfOneItem(error) && !isRetryable(error)) throw error;
    if (threadIds.length === 1) return options.onFailure?.(threadIds[0]!, error);
    const middle = threadIds.length >> 1;
    await takeTogether(threadIds.slice(0, middle), options, result);
    await takeTogether(threadIds.slice(middle), options, result);
  }
}

async function takeBackOnce(client: pg.ClientBase, all: string[], options: TakeBackOptions): Promise<TakeBackProgress> {
  const { held } = await lockUnheldThreads(client, all);
  const threadIds = all.filter((threadId) => !held.has(threadId));
  const owned = await lockOwnedRuns(client, threadIds);
  // The run may have ended meanwhile, or its worker may have renewed its lease.
  const stillLapsed = new Set(await findThreadsOfLostWorkers(client, { among: threadIds }));
  const runs = [...owned.values()].filter((run) => stillLapsed.has(run.threadId));
  const released = await releaseRuns(
    client,
    runs.map((run) => ({ run, failure: WORKER_LOST, isLost: true })),
    options,
    options.events,
  );
  const taken: TakeBackProgress = { resumedRunIds: [], ended: [], rollingBack: [], hasLockedThreads: held.size > 0 };
  for (const run of runs) {
    const end = released.get(run.runId)!;
    if (end.outcome === 'pending') taken.resumedRunIds.push(run.runId);
    else if (end.outcome === 'rollingBack') taken.rollingBack.push(run.threadId);
    else {
      const { outcome: _ended, ...how } = end;
      // Above the epoch of the lost attempt and below the next one's: if its worker is alive, it can append nothing
      // after the end.
      const fence = { threadId: run.threadId, epoch: run.epoch + 1n, runId: run.runId };
      taken.ended.push({ runId: run.runId, attempt: run.attempt, ...how, fence });
    }
  }
  return taken;
}

/**
 * Returns threads whose running run its worker will not end: the worker is lost, or unresponsive since the run's cancel
 * order.
 */
async function findThreadsOfLostWorkers(
  db: pg.Pool | pg.ClientBase,
  { among, after = FIRST_ID, cancelledOnly = false }: { among?: string[]; after?: string; cancelledOnly?: boolean },
): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'engine_threads_of_lapsed',
    text: `SELECT r.thread_id FROM run r LEFT JOIN worker w ON w.worker_id = r.worker_id
           WHERE r.status = 'running' AND (w.worker_id IS NULL OR w.lease_until <= now()
             OR w.lease_until > now() + make_interval(secs => w.lease_ms / 500.0)
             OR (r.cancel_requested_at <= now() - make_interval(secs => w.lease_ms * ${UNRESPONSIVE_SHARE} / 1000)
               AND w.lease_until <= now() + make_interval(secs => w.lease_ms * (1 - ${UNRESPONSIVE_SHARE}) / 1000)))
             AND ($1::uuid[] IS NULL OR r.thread_id = ANY($1::uuid[]))
             AND (NOT $2::boolean OR r.cancel_action IS NOT NULL) AND r.thread_id > $3
           ORDER BY r.thread_id LIMIT ${BATCH}`,
    values: [among ?? null, cancelledOnly, after],
  });
  return rows.map((row) => row.thread_id);
}
