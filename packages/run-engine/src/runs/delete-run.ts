import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { dropUnkeptFences, lockFences, lockOwnedRuns, lockThreads, type OwnedRun, takeFences } from '../locks.ts';
import { refreshHeads } from '../queue/thread-heads.ts';
import type { RunEvents } from '../run-events.ts';
import { resetThreadStatus } from '../threads/reset-thread-status.ts';
import type { DeletedRun } from '../types.ts';
import { deleteWebhookContent } from '../webhooks/queue-webhooks.ts';
import { rollBackRuns } from './roll-back-runs.ts';

/** `isRollingBack`: its rollback takes longer, and the run is there until that is done. */
type RunDeletion = { isRollingBack: true } | { isRollingBack: false; inFlight: DeletedRun | undefined };

/**
 * Deletes a run whatever its status. Returns one that had not ended, unless a sweep has ended it: then that has notified
 * its watchers. A rollback that was accepted before is completed first, in as many transactions as needed.
 */
export async function deleteRun(
  write: EngineWrites['write'],
  threadId: string,
  runId: string,
  events: RunEvents,
): Promise<DeletedRun | undefined> {
  for (let hasBegun = false; ; hasBegun = true) {
    try {
      const deletion = await write((client) => deleteOnce(client, threadId, runId, events));
      if (!deletion.isRollingBack) return deletion.inFlight;
    } catch (error) {
      if (hasBegun && error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}

/**
 * Deletes a run in the caller's transaction. A running one loses its thread at once, and is rolled
 * back first if that was ordered: its worker cannot obey any more. For a run that had not ended, an `interrupted` event
 * is written, and the run is returned.
 */
async function deleteOnce(
  client: pg.ClientBase,
  threadId: string,
  runId: string,
  events: RunEvents,
): Promise<RunDeletion> {
  await lockThreads(client, [threadId]);
  const epochs = await lockFences(client, [threadId]);
  const running = (await lockOwnedRuns(client, [threadId])).get(threadId);
  if (running?.runId === runId && running.cancelAction === 'rollback') return rollBack(client, running, events);
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
  return { isRollingBack: false, inFlight: wasInFlight ? { runId, attempt: run.attempt, fence } : undefined };
}

async function rollBack(client: pg.ClientBase, run: OwnedRun, events: RunEvents): Promise<RunDeletion> {
  if (!(await rollBackRuns(client, [run], events))) return { isRollingBack: true };
  const { threadId, runId, attempt, epoch } = run;
  return { isRollingBack: false, inFlight: { runId, attempt, fence: { threadId, epoch: epoch + 1n, runId } } };
}
