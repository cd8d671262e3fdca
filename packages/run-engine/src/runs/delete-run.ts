import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { dropUnkeptFences, lockFences, lockThreads, takeFences } from '../locks.ts';
import { refreshHeads } from '../queue/thread-heads.ts';
import type { RunEvents } from '../run-events.ts';
import { resetThreadStatus } from '../threads/reset-thread-status.ts';
import { deleteWebhookContent } from '../webhooks/queue-webhooks.ts';
import type { DeletedRun } from './types.ts';

/**
 * Deletes a run in the caller's transaction, whatever its status. A running one loses its thread at once. For a run
 * that had not ended, an `interrupted` event is written, and the run is returned.
 */
export async function deleteRun(
  client: pg.ClientBase,
  threadId: string,
  runId: string,
  events: RunEvents,
): Promise<DeletedRun | undefined> {
  await lockThreads(client, [threadId]);
  const epochs = await lockFences(client, [threadId]);
  await events.queueWebhooksBeforeDelete(client, { threadIds: [threadId], runId });
  const { rows } = await client.query<{
    status: string;
    keeps_thread: boolean;
    assistant_id: string;
    attempt: number;
  }>({
    name: 'engine_delete_run',
    text: `WITH replaced AS (DELETE FROM checkpoint_write_replaced WHERE thread_id = $1 AND run_id = $2)
           DELETE FROM run WHERE run_id = $2 AND thread_id = $1 RETURNING status, keeps_thread, assistant_id, attempt`,
    values: [threadId, runId],
  });
  const run = rows[0];
  if (!run) throw new NotFoundError('Run not found');
  await deleteWebhookContent(client, [runId]);
  const wasInFlight = run.status === 'running' || run.status === 'pending';
  if (wasInFlight) {
    const { assistant_id: assistantId, attempt } = run;
    await events.writeFinished(client, [{ runId, threadId, assistantId, attempt, status: 'interrupted' }]);
  }
  const isRunning = run.status === 'running';
  // The end is published above the epoch of the run's own worker, so that nothing it still appends comes after the end.
  // The epoch must not exceed that of another run's worker.
  const fence = { threadId, epoch: (epochs.get(threadId) ?? 0n) + (isRunning ? 1n : 0n), runId };
  const deleted = wasInFlight ? { runId, attempt: run.attempt, fence } : undefined;
  if (isRunning) await takeFences(client, [threadId]);
  else if (wasInFlight) await refreshHeads(client, [threadId]);
  if (!run.keeps_thread) await dropUnkeptFences(client, [threadId]);
  else if (wasInFlight) {
    await resetThreadStatus(client, [threadId]);
    await client.query({
      name: 'engine_state_of_deleted_run',
      text: `INSERT INTO thread_state_behind (thread_id) SELECT thread_id FROM thread WHERE thread_id = $1
               AND EXISTS (SELECT 1 FROM checkpoint c WHERE c.run_id = $2)
             ON CONFLICT (thread_id) DO UPDATE SET look_at = now()`,
      values: [threadId, runId],
    });
  }
  return deleted;
}
