import type pg from 'pg';

/**
 * Sets the status of threads without a run in flight from their state: `interrupted` when it has interrupts, else
 * `idle`. Thread and fence rows are locked.
 */
export async function resetThreadStatus(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  if (threadIds.length === 0) return;
  await client.query({
    name: 'engine_reset_thread_status',
    text: `UPDATE thread t
           SET status = CASE WHEN EXISTS (SELECT 1 FROM thread_state s
                                          WHERE s.thread_id = t.thread_id AND s.interrupts IS NOT NULL)
                             THEN 'interrupted' ELSE 'idle' END,
               updated_at = now()
           WHERE t.thread_id = ANY($1::uuid[])
             -- OFFSET keeps each a look at the thread's own runs: with statistics of a moment without runs in flight, all
             -- of them seem as few.
             AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status = 'pending' OFFSET 0)
             AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status = 'running' OFFSET 0)`,
    values: [threadIds],
  });
}
