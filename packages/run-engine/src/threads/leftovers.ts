import type pg from 'pg';
import { NEXT_EPOCH } from '../locks.ts';
import { refuseUnfinishedRemovals } from './thread-removals.ts';

/**
 * Returns SQL that creates the fences of new threads; reads `made (thread_id)`, and for threads that get a run
 * `head_ready_at`. If an id has a fence before it has a thread, a run whose
 * thread is not kept used or still uses it, or a draft that nobody completed: its writes are refused from then on. The
 * lock on such a fence lets a transaction that is about to remove it see the thread.
 */
export const fencesOfNewThreads = (headReadyAt = 'NULL::timestamptz') => `
  fences AS (
    INSERT INTO thread_fence AS f (thread_id, head_ready_at) SELECT thread_id, ${headReadyAt} FROM made ORDER BY thread_id
    ON CONFLICT (thread_id) DO UPDATE SET epoch = CASE WHEN f.run_id IS NULL THEN ${NEXT_EPOCH} ELSE f.epoch END
    RETURNING f.thread_id, f.epoch > 0 AS was_used
  )`;

/**
 * Removes the checkpoints of ids that have no thread yet. Their fences are locked.
 *
 * @throws ThreadHeldError when a thread that had one of the ids is still being removed
 */
export async function removeLeftovers(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  if (threadIds.length === 0) return;
  await refuseUnfinishedRemovals(client, threadIds);
  await client.query({
    name: 'engine_remove_leftovers',
    text: `WITH writes AS (DELETE FROM checkpoint_write WHERE thread_id = ANY($1::uuid[])),
                blobs AS (DELETE FROM checkpoint_blob WHERE thread_id = ANY($1::uuid[]))
           DELETE FROM checkpoint WHERE thread_id = ANY($1::uuid[])`,
    values: [threadIds],
  });
}
