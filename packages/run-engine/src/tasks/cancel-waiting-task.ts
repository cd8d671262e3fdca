import type pg from 'pg';
import { lockThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';

/** The key in the metadata of a run whose task was canceled after the run had ended. */
export const TASK_CANCELED = 'task_canceled';

/**
 * Ends a task that waits for input, in the caller's transaction. Returns false when its run is not the newest of the
 * thread any more: whoever answered the task was faster. Under the lock of the thread no run is added to it.
 */
export async function cancelWaitingTask(
  client: pg.ClientBase,
  { threadId, runId }: { threadId: string; runId: string },
  events: RunEvents,
): Promise<boolean> {
  await lockThreads(client, [threadId]);
  const { rowCount } = await client.query({
    name: 'engine_cancel_waiting_task',
    text: `UPDATE run n SET metadata = n.metadata || '{"${TASK_CANCELED}": true}', updated_at = now()
           WHERE n.run_id = $1 AND n.thread_id = $2 AND n.status = 'success'
             AND NOT EXISTS (SELECT 1 FROM run l WHERE l.thread_id = n.thread_id AND l.seq > n.seq)`,
    values: [runId, threadId],
  });
  if (rowCount !== 1) return false;
  await events.queuePushesOfCanceled(client, [runId]);
  return true;
}
