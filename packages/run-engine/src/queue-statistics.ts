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

export async function readQueueStatistics(db: pg.Pool): Promise<QueueStatistics> {
  const { rows } = await db.query({
    name: 'engine_queue_statistics',
    text: `WITH waiting AS (
             SELECT extract(epoch FROM now() - r.ready_at)::float8 AS seconds, f.run_id IS NULL AS is_unblocked,
                    r.key_missing_since IS NOT NULL AS awaits_key
             FROM run r LEFT JOIN thread_fence f ON f.thread_id = r.thread_id
             WHERE r.status = 'pending'
           )
           SELECT (SELECT count(*) FROM waiting)::integer AS "pendingRuns",
                  (SELECT count(*) FROM run WHERE status = 'running')::integer AS "runningRuns",
                  (SELECT coalesce(greatest(max(seconds), 0), 0) FROM waiting) AS "pendingWaitMax",
                  (SELECT coalesce(greatest(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), 0), 0) FROM waiting)
                    AS "pendingWaitMedian",
                  (SELECT coalesce(greatest(max(seconds), 0), 0) FROM waiting WHERE is_unblocked) AS "unblockedWaitMax",
                  CASE WHEN (SELECT bool_or(awaits_key) FROM waiting) THEN ${AWAITING_KEYS} ELSE 0 END
                    AS "runsAwaitingKeys",
                  (SELECT count(*) FROM worker WHERE lease_until > now())::integer AS workers,
                  (SELECT coalesce(sum(slots), 0) FROM worker WHERE lease_until > now() AND NOT is_draining)::integer
                    AS slots`,
  });
  return rows[0] as QueueStatistics;
}
