import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { lockFences, lockThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';

/**
 * Deletes a thread with everything of it in the caller's transaction, also while a run is under way: with the fence gone
 * whatever that run still writes is refused. For the bus its runs in flight end with this, as `interrupted`.
 */
export async function deleteThread(client: pg.ClientBase, threadId: string, events: RunEvents): Promise<void> {
  const existing = await lockThreads(client, [threadId]);
  if (!existing.has(threadId)) throw new NotFoundError(`Thread with ID ${threadId} not found`);
  await lockFences(client, [threadId]);
  const { rows } = await client.query<{ run_id: string; assistant_id: string; attempt: number; status: string }>({
    name: 'engine_delete_runs_of_thread',
    text: 'DELETE FROM run WHERE thread_id = $1 RETURNING run_id, assistant_id, attempt, status',
    values: [threadId],
  });
  const inFlight = rows.filter(({ status }) => status === 'pending' || status === 'running');
  await events.finished(
    client,
    inFlight.map((row) => ({
      runId: row.run_id,
      threadId,
      assistantId: row.assistant_id,
      attempt: row.attempt,
      status: 'interrupted',
    })),
  );
  await client.query({
    name: 'engine_delete_thread',
    text: `WITH fences AS (DELETE FROM thread_fence WHERE thread_id = $1),
                writes AS (DELETE FROM checkpoint_write WHERE thread_id = $1),
                blobs AS (DELETE FROM checkpoint_blob WHERE thread_id = $1),
                checkpoints AS (DELETE FROM checkpoint WHERE thread_id = $1)
           DELETE FROM thread WHERE thread_id = $1`,
    values: [threadId],
  });
}
