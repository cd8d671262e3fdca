import type pg from 'pg';
import type { EncodedThread } from './encode-thread.ts';
import { fencesOfNewThreads } from './leftovers.ts';
import { THREAD_COLUMNS, type ThreadRow, threadOfRow } from './thread-row.ts';
import { expiryIn } from './thread-ttl.ts';
import type { ThreadRecord } from './types.ts';

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
    text: `WITH made AS (
             INSERT INTO thread (thread_id, metadata, config, ttl_strategy, ttl_minutes, expires_at, status)
             SELECT i.thread_id, i.metadata, i.config, i.strategy, i.minutes, ${expiryIn('i.minutes')}, 'idle'
             FROM unnest($1::uuid[], $2::jsonb[], $3::jsonb[], $4::text[], $5::float8[])
               AS i (thread_id, metadata, config, strategy, minutes)
             WHERE NOT EXISTS (SELECT 1 FROM thread_fence f WHERE f.thread_id = i.thread_id)
             ORDER BY i.thread_id
             ON CONFLICT DO NOTHING RETURNING ${THREAD_COLUMNS}
           ), ${fencesOfNewThreads()} SELECT made.*, fences.was_used FROM made JOIN fences USING (thread_id)`,
    values: [
      batch.map(({ threadId }) => threadId),
      batch.map(({ metadata }) => metadata),
      batch.map(({ config }) => config),
      batch.map(({ ttl: [strategy] }) => strategy),
      batch.map(({ ttl: [, minutes] }) => minutes),
    ],
  });
  // Their fences have come to be since the statement began.
  const used = rows.filter((row) => row.was_used).map((row) => row.thread_id);
  if (used.length > 0) await client.query('DELETE FROM thread WHERE thread_id = ANY($1::uuid[])', [used]);
  const made = new Map(rows.filter((row) => !row.was_used).map((row) => [row.thread_id, threadOfRow(row)]));
  return batch.map(({ threadId }) => made.get(threadId));
}
