import type pg from 'pg';
import { lockFences, takeFences } from '../locks.ts';
import { removalDeadline, removeInSteps } from './remove-in-steps.ts';

/**
 * The checkpoints of which the newest state of a thread consists:
 * - the newest checkpoint of the root graph;
 * - the newest checkpoint of a subgraph when it belongs to that one (an interrupt inside waits there), or when the
 * subgraph has its own memory, which has a namespace without a task id;
 * - ancestors of channels whose checkpoints store only changes (their metadata counts the steps since the last whole
 * value), back to the nearest with a value.
 */
const KEPT = `
  newest AS (
    SELECT DISTINCT ON (thread_id, checkpoint_ns) thread_id, checkpoint_ns, checkpoint_id
    FROM checkpoint WHERE thread_id = ANY($1::uuid[])
    ORDER BY thread_id, checkpoint_ns, checkpoint_id DESC
  ), kept AS (
    SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.channel_blobs, delta.wanted
    FROM newest n
    JOIN checkpoint c USING (thread_id, checkpoint_ns, checkpoint_id)
    LEFT JOIN newest root ON root.thread_id = n.thread_id AND root.checkpoint_ns = ''
    CROSS JOIN LATERAL (
      SELECT array_agg(channel) AS wanted
      FROM jsonb_object_keys(CASE jsonb_typeof(c.metadata -> 'counters_since_delta_snapshot')
                             WHEN 'object' THEN c.metadata -> 'counters_since_delta_snapshot' ELSE '{}' END) AS channel
      WHERE NOT c.channel_blobs ? channel
    ) delta
    WHERE n.checkpoint_ns = '' OR strpos(n.checkpoint_ns, ':') = 0
       OR c.metadata -> 'parents' ->> '' = root.checkpoint_id
    UNION ALL
    SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.parent_checkpoint_id, c.channel_blobs, still.wanted
    FROM kept k
    JOIN checkpoint c ON c.thread_id = k.thread_id AND c.checkpoint_ns = k.checkpoint_ns
                     AND c.checkpoint_id = k.parent_checkpoint_id
    CROSS JOIN LATERAL (
      SELECT array_agg(channel) AS wanted FROM unnest(k.wanted) AS channel WHERE NOT c.channel_blobs ? channel
    ) still
    WHERE k.wanted IS NOT NULL
  ), kept_blob AS (
    SELECT DISTINCT k.thread_id, k.checkpoint_ns, named.key AS channel, named.value ->> 0 AS version,
           named.value ->> 1 AS checkpoint_id
    FROM kept k, jsonb_each(k.channel_blobs) AS named
  )`;

/**
 * Deletes all checkpoints of threads that their newest state does not need, in the caller's transaction. It deletes
 * only a part of long threads, the newest, so that the rest can be read. Returns whether that was all. Thread rows are
 * locked and none of their runs is in flight. A pending state update loses the fence: it may have read what is deleted
 * here.
 */
export async function keepLatest(client: pg.ClientBase, threadIds: string[]): Promise<boolean> {
  if (threadIds.length === 0) return true;
  await lockFences(client, threadIds);
  await takeFences(client, threadIds);
  const time = removalDeadline();
  if (!(await removeInSteps((limit) => removeCheckpoints(client, threadIds, limit), time))) return false;
  // The rows that checkpoints refer to are deleted after the checkpoints.
  if (!(await removeInSteps((limit) => removeUnneeded(client, threadIds, limit), time))) return false;
  await client.query({
    name: 'engine_forget_parents',
    text: `WITH RECURSIVE ${KEPT}
           UPDATE checkpoint c SET parent_checkpoint_id = NULL
           FROM kept k
           WHERE c.thread_id = k.thread_id AND c.checkpoint_ns = k.checkpoint_ns AND c.checkpoint_id = k.checkpoint_id
             AND k.wanted IS NULL AND k.parent_checkpoint_id IS NOT NULL`,
    values: [threadIds],
  });
  return true;
}

async function removeCheckpoints(client: pg.ClientBase, threadIds: string[], limit: number): Promise<number> {
  const { rowCount } = await client.query({
    name: 'engine_remove_older_checkpoints',
    text: `WITH RECURSIVE ${KEPT}
           DELETE FROM checkpoint WHERE ctid = ANY(ARRAY(
             SELECT c.ctid FROM checkpoint c WHERE c.thread_id = ANY($1::uuid[]) AND NOT EXISTS (
               SELECT 1 FROM kept k WHERE k.thread_id = c.thread_id AND k.checkpoint_ns = c.checkpoint_ns
                 AND k.checkpoint_id = c.checkpoint_id)
             ORDER BY c.checkpoint_id DESC LIMIT $2))`,
    values: [threadIds, limit],
  });
  return rowCount ?? 0;
}

/** Removes up to `limit` writes and as many values; returns how many rows it found of the more frequent kind. */
async function removeUnneeded(client: pg.ClientBase, threadIds: string[], limit: number): Promise<number> {
  const { rows } = await client.query<{ removed: number }>({
    name: 'engine_remove_unneeded_values',
    text: `WITH RECURSIVE ${KEPT},
           writes AS (
             DELETE FROM checkpoint_write WHERE ctid = ANY(ARRAY(
               SELECT w.ctid FROM checkpoint_write w WHERE w.thread_id = ANY($1::uuid[]) AND NOT EXISTS (
                 SELECT 1 FROM kept k WHERE k.thread_id = w.thread_id AND k.checkpoint_ns = w.checkpoint_ns
                   AND k.checkpoint_id = w.checkpoint_id)
               LIMIT $2)) RETURNING 1
           ), blobs AS (
             DELETE FROM checkpoint_blob WHERE ctid = ANY(ARRAY(
               SELECT b.ctid FROM checkpoint_blob b WHERE b.thread_id = ANY($1::uuid[]) AND NOT EXISTS (
                 SELECT 1 FROM kept_blob k WHERE k.thread_id = b.thread_id AND k.checkpoint_ns = b.checkpoint_ns
                   AND k.channel = b.channel AND k.version = b.version AND k.checkpoint_id = b.checkpoint_id)
               LIMIT $2)) RETURNING 1
           )
           SELECT greatest((SELECT count(*) FROM writes), (SELECT count(*) FROM blobs))::integer AS removed`,
    values: [threadIds, limit],
  });
  return rows[0]!.removed;
}
