import type pg from 'pg';
import type { QueueStatistics } from './workers/types.ts';

export async function readQueueStatistics(db: pg.Pool): Promise<QueueStatistics> {
  const { rows } = await db.query({
    name: 'engine_queue_statistics',
    text: `WITH waiting AS (
             SELECT extract(epoch FROM now() - r.ready_at)::float8 AS seconds, f.run_id IS NULL AS is_unblocked
             FROM run r LEFT JOIN thread_fence f ON f.thread_id = r.thread_id
             WHERE r.status = 'pending'
           )
           SELECT (SELECT count(*) FROM waiting)::integer AS "pendingRuns",
                  (SELECT count(*) FROM run WHERE status = 'running')::integer AS "runningRuns",
                  (SELECT coalesce(greatest(max(seconds), 0), 0) FROM waiting) AS "pendingWaitMax",
                  (SELECT coalesce(greatest(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), 0), 0) FROM waiting)
                    AS "pendingWaitMedian",
                  (SELECT coalesce(greatest(max(seconds), 0), 0) FROM waiting WHERE is_unblocked) AS "unblockedWaitMax",
                  (SELECT count(*) FROM worker WHERE lease_until > now())::integer AS workers,
                  (SELECT coalesce(sum(slots), 0) FROM worker WHERE lease_until > now() AND NOT is_draining)::integer
                    AS slots`,
  });
  return rows[0] as QueueStatistics;
}
