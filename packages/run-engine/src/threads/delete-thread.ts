import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { lockFences, lockThreads } from '../locks.ts';

/**
 * Deletes a thread with everything of it in the caller's transaction, also while a run is under way: with the fence gone
 * whatever that run still writes is refused.
 */
export async function deleteThread(client: pg.ClientBase, threadId: string): Promise<void> {
  const existing = await lockThreads(client, [threadId]);
  if (!existing.has(threadId)) throw new NotFoundError(`Thread with ID ${threadId} not found`);
  await lockFences(client, [threadId]);
  await client.query({
    name: 'engine_delete_thread',
    text: `WITH fences AS (DELETE FROM thread_fence WHERE thread_id = $1),
                runs AS (DELETE FROM run WHERE thread_id = $1),
                writes AS (DELETE FROM checkpoint_write WHERE thread_id = $1),
                blobs AS (DELETE FROM checkpoint_blob WHERE thread_id = $1),
                checkpoints AS (DELETE FROM checkpoint WHERE thread_id = $1)
           DELETE FROM thread WHERE thread_id = $1`,
    values: [threadId],
  });
}
