import type pg from 'pg';
import type { EncodedThread } from './encode-thread.ts';
import { insertedThreads, threadValues } from './inserted-threads.ts';
import { fencesOfNewThreads } from './leftovers.ts';
import { type ThreadRow, threadOfRow } from './thread-row.ts';
import type { ThreadRecord } from './types.ts';

const UNUSED = 'NOT EXISTS (SELECT 1 FROM thread_fence f WHERE f.thread_id = i.thread_id)';

/**
 * Creates those of the threads whose ids nothing has ever had, in the caller's transaction; ids differ. Returns them in
 * the order of the batch, and undefined in place of the others, of which no thread is made.
 */
export async function createUnusedThreads(
  client: pg.ClientBase,
  batch: EncodedThread[],
): Promise<(ThreadRecord | undefined)[]> {
  const { rows } = await client.query<ThreadRow & { was_used: boolean }>({
    name: 'engine_create_threads',
    text: `WITH ${insertedThreads(UNUSED)}, ${fencesOfNewThreads()}
           SELECT made.*, fences.was_used FROM made JOIN fences USING (thread_id)`,
    values: threadValues(batch),
  });
  // Their fences have come to be since the statement began.
  const used = rows.filter((row) => row.was_used).map((row) => row.thread_id);
  if (used.length > 0) await client.query('DELETE FROM thread WHERE thread_id = ANY($1::uuid[])', [used]);
  const made = new Map(rows.filter((row) => !row.was_used).map((row) => [row.thread_id, threadOfRow(row)]));
  return batch.map(({ threadId }) => made.get(threadId));
}
