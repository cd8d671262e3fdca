import type pg from 'pg';
import type { QueueStatistics } from './workers/types.ts';

/** The first bytes of encrypted arguments, which name their key by its kind; NULL for others. */
const header = (run: string) =>
  `substring(${run}.kwargs FOR CASE substring(${run}.kwargs FOR 1) WHEN '\\x01' THEN 5 WHEN '\\x02' THEN 17 END)`;
/** Claims leave out most runs of a missing key without a try. */
const AWAITING_KEYS = `(
  SELECT count(*) FROM run r WHERE r.status = 'pending' AND (r.key_missing_since IS NOT NULL OR ${header('r')} IN (
    SELECT ${header('m')} FROM run m WHERE m.status = 'pending' AND m.key_missing_since IS NOT NULL)))::integer`;

/** Returns how many runs wait whose key a worker has failed to get, with all others of those keys. */
export async function countRunsAwaitingKeys(db: pg.Pool): Promise<number> {
  const { rows } = await db.query({ name: 'engine_runs_awaiting_keys', text: `SELECT ${AWAITING_KEYS} AS runs` });
  return rows[0].runs;
}

/**
 * Reads each waiting run once. Those whose thread is busy are told by the running runs, of which there are no more than
 * slots: the fences are as many as threads.
 */
export const QUEUE_STATISTICS = {
  name: 'engine_queue_statistics',
  text: `WITH waiting AS (
           SELECT count(*)::integer AS runs, extract(epoch FROM now() - min(ready_at))::float8 AS wait_max,
                  percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM now() - ready_at)::float8) AS wait_median,
                  extract(epoch FROM now() - min(ready_at) FILTER (
                    WHERE thread_id NOT IN (SELECT b.thread_id FROM run b WHERE b.status = 'running')))::float8
                    AS unblocked_wait_max,
                  bool_or(key_missing_since IS NOT NULL) AS await_keys
           FROM run WHERE status = 'pending'
         )
         SELECT runs AS "pendingRuns",
                (SELECT count(*) FROM run WHERE status = 'running')::integer AS "runningRuns",
                greatest(wait_max, 0) AS "pendingWaitMax", greatest(wait_median, 0) AS "pendingWaitMedian",
                greatest(unblocked_wait_max, 0) AS "unblockedWaitMax",
                CASE WHEN await_keys THEN ${AWAITING_KEYS} ELSE 0 END AS "runsAwaitingKeys",
                (SELECT count(*) FROM worker WHERE lease_until > now())::integer AS workers,
                (SELECT coalesce(sum(slots), 0) FROM worker WHERE lease_until > now() AND NOT is_draining)::integer AS slots
         FROM waiting`,
};

export async function readQueueStatistics(db: pg.Pool): Promise<QueueStatistics> {
  const { rows } = await db.query<QueueStatistics>(QUEUE_STATISTICS);
  return rows[0]!;
}
