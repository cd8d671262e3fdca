import type pg from 'pg';

/**
 * A fence has in `head_ready_at` when the next run of its thread may start. It is never later than that, so that claims
 * find every thread with a run that is ready, and NULL only when no run waits. A trigger lowers it for every new run,
 * whichever release creates it; whoever takes a run away, and holds the fence, sets it again. A head that is too early
 * costs a claim one look, until a sweep corrects it.
 */

/** Returns SQL for the time at which the next waiting run of a thread may start; NULL when none waits. */
export function nextReadyAt(threadId: string, exceptRunId?: string): string {
  const waiting = (condition: string) =>
    `FROM run w WHERE w.thread_id = ${threadId} AND w.status = 'pending' ${condition}
     ${exceptRunId ? `AND w.run_id <> ${exceptRunId}` : ''}`;
  return `coalesce(
    -- One that has begun goes on before all others, also when it has to wait.
    (SELECT w.ready_at ${waiting('AND w.attempt > 0')} ORDER BY w.seq LIMIT 1),
    (SELECT w.ready_at ${waiting('AND w.ready_at <= now()')} ORDER BY w.seq LIMIT 1),
    (SELECT min(w.ready_at) ${waiting('')}))`;
}

/**
 * Returns SQL for the id of the run that a claim takes from a thread. It is the first that was accepted of those that
 * are ready; one that has begun goes on from its own checkpoints, so no other run comes between its attempts.
 */
export function nextRunId(threadId: string): string {
  const waiting = `FROM run w WHERE w.thread_id = ${threadId} AND w.status = 'pending'`;
  return `coalesce(
    (SELECT w.run_id ${waiting} AND w.attempt > 0 ORDER BY w.seq LIMIT 1),
    (SELECT w.run_id ${waiting} AND w.ready_at <= now() ORDER BY w.seq LIMIT 1))`;
}

/**
 * Returns SQL for the head of a thread whose next run may start at that time. A thread that comes back to the queue is
 * not put below what claims look at.
 */
export function headAt(readyAt: string): string {
  return `CASE WHEN ${readyAt} IS NOT NULL THEN greatest(${readyAt}, (SELECT queue_floor FROM deployment)) END`;
}

/** Sets the heads of threads after waiting runs of theirs have gone. Their fences are locked. */
export async function refreshHeads(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  if (threadIds.length === 0) return;
  await client.query({
    name: 'engine_refresh_heads',
    text: `UPDATE thread_fence f SET head_ready_at = ${headAt('n.ready_at')}
           FROM unnest($1::uuid[]) AS i (thread_id), LATERAL (SELECT ${nextReadyAt('i.thread_id')} AS ready_at) n
           -- The end of a running run sets it.
           WHERE f.thread_id = i.thread_id AND f.run_id IS NULL`,
    // Each look walks the runs of its thread: one for each of thousands of cancelled runs would take a minute.
    values: [[...new Set(threadIds)]],
  });
}
