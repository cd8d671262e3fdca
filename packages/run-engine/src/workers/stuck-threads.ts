import type pg from 'pg';
import { lockFences, lockThreads, NEXT_EPOCH } from '../locks.ts';
import { nextReadyAt, refreshHeads } from '../queue/thread-heads.ts';
import { resetThreadStatus } from '../threads/reset-thread-status.ts';

/** Inconsistencies of live transactions last milliseconds; those that last this long are stuck. */
const STUCK_AFTER = "interval '10 seconds'";
const BATCH = 200;

/** True when the fence says that the thread is free, or names a run that is running. */
const FENCE_IS_CONSISTENT = `(f.run_id IS NULL OR EXISTS (SELECT 1 FROM run o WHERE o.run_id = f.run_id AND o.status = 'running'))`;

/** True when no claim would find the thread in time. */
const HEAD_IS_LATE = `f.run_id IS NULL AND (f.head_ready_at IS NULL OR f.head_ready_at > now())
  AND ${nextReadyAt('f.thread_id')} < coalesce(f.head_ready_at, 'infinity')`;

/** Returns threads that look stuck: an estimate without locks. */
export async function findStuckThreads(db: pg.Pool): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'engine_find_stuck_threads',
    text: `(SELECT r.thread_id FROM run r LEFT JOIN thread_fence f ON f.thread_id = r.thread_id
            WHERE r.status = 'pending' AND r.ready_at < now() - ${STUCK_AFTER} AND r.updated_at < now() - ${STUCK_AFTER}
              AND (f.thread_id IS NULL OR ${HEAD_IS_LATE}
                OR NOT ${FENCE_IS_CONSISTENT}) LIMIT ${BATCH})
           UNION
           (SELECT r.thread_id FROM run r LEFT JOIN worker w ON w.worker_id = r.worker_id
            WHERE r.status = 'running' AND r.updated_at < now() - ${STUCK_AFTER}
              AND (w.worker_id IS NULL OR w.lease_until < now())
              AND NOT EXISTS (SELECT 1 FROM thread_fence f WHERE f.run_id = r.run_id AND f.thread_id = r.thread_id)
            LIMIT ${BATCH})
           UNION
           (SELECT t.thread_id FROM thread t WHERE t.status = 'busy' AND t.updated_at < now() - ${STUCK_AFTER}
              AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status = 'pending')
              AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status = 'running')
            LIMIT ${BATCH})`,
  });
  return rows.map((row) => row.thread_id);
}

/**
 * Makes the fences and statuses of threads consistent with their runs, in the caller's transaction. Returns those it
 * changed.
 */
export async function repairThreads(client: pg.ClientBase, threadIds: string[]): Promise<string[]> {
  await lockThreads(client, threadIds);
  const made = await client.query<{ thread_id: string }>(
    `INSERT INTO thread_fence (thread_id)
     SELECT DISTINCT r.thread_id FROM run r WHERE r.thread_id = ANY($1::uuid[]) AND r.status IN ('pending', 'running')
     ORDER BY r.thread_id ON CONFLICT DO NOTHING RETURNING thread_id`,
    [threadIds],
  );
  await lockFences(client, threadIds);
  // A running run that its fence does not name has no worker that could write for it: it is taken back like those of
  // lost workers.
  const adopted = await client.query<{ thread_id: string }>(
    `WITH named AS (
       UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = r.run_id FROM run r
       WHERE f.thread_id = ANY($1::uuid[]) AND r.thread_id = f.thread_id AND r.status = 'running'
         AND f.run_id IS DISTINCT FROM r.run_id
       RETURNING f.thread_id, f.run_id
     )
     UPDATE run r SET worker_id = NULL FROM named WHERE r.run_id = named.run_id RETURNING r.thread_id`,
    [threadIds],
  );
  const freed = await client.query<{ thread_id: string }>(
    `UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = NULL
     WHERE f.thread_id = ANY($1::uuid[]) AND NOT ${FENCE_IS_CONSISTENT} RETURNING f.thread_id`,
    [threadIds],
  );
  const late = await client.query<{ thread_id: string }>(
    `SELECT f.thread_id FROM thread_fence f WHERE f.thread_id = ANY($1::uuid[]) AND ${HEAD_IS_LATE}`,
    [threadIds],
  );
  await refreshHeads(client, threadIds);
  const idle = await client.query<{ thread_id: string }>(
    `SELECT t.thread_id FROM thread t WHERE t.thread_id = ANY($1::uuid[]) AND t.status = 'busy'
       AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status IN ('pending', 'running'))`,
    [threadIds],
  );
  const settled = idle.rows.map((row) => row.thread_id);
  await resetThreadStatus(client, settled);
  return [...new Set([made, adopted, freed, late, idle].flatMap(({ rows }) => rows.map((row) => row.thread_id)))];
}
