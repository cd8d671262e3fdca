import type pg from 'pg';
import { removalDeadline, removeInSteps } from '../threads/remove-in-steps.ts';

/** Written so that only the index by run serves it: the thread may have millions of other writes. */
export const DELETE_RUN_WRITES = {
  name: 'engine_delete_run_writes',
  text: `DELETE FROM checkpoint_write w USING unnest($1::uuid[], $2::uuid[]) AS i (thread_id, run_id)
         WHERE w.run_id = i.run_id AND (w.thread_id = i.thread_id) IS TRUE`,
};

/**
 * Deletes runs' checkpoints and their writes to other checkpoints, so that the threads are as they were before the
 * runs. It deletes only a part of many checkpoints: the newest, so that the rest is consistent. Returns whether nothing
 * is left.
 */
export async function deleteCheckpointsOfRuns(
  client: pg.ClientBase,
  runs: { threadId: string; runId: string }[],
): Promise<boolean> {
  const values = [runs.map((run) => run.threadId), runs.map((run) => run.runId)];
  const isAll = await removeInSteps((limit) => deleteNewest(client, [...values, limit]), removalDeadline());
  if (isAll) await restoreWrites(client, values);
  return isAll;
}

/** Deletes the newest checkpoints with the values they introduced and all writes at them; returns how many. */
async function deleteNewest(client: pg.ClientBase, values: unknown[]): Promise<number> {
  const { rowCount } = await client.query({
    name: 'engine_delete_newest_checkpoints',
    text: `WITH newest AS MATERIALIZED (
             SELECT c.thread_id, c.checkpoint_ns, c.checkpoint_id, c.channel_blobs
             FROM unnest($1::uuid[], $2::uuid[]) AS i (thread_id, run_id)
             JOIN checkpoint c ON c.thread_id = i.thread_id AND c.run_id = i.run_id
             ORDER BY c.checkpoint_id DESC LIMIT $3
           ), writes AS (
             DELETE FROM checkpoint_write w USING newest n
             WHERE w.thread_id = n.thread_id AND w.checkpoint_ns = n.checkpoint_ns AND w.checkpoint_id = n.checkpoint_id
           ), blobs AS (
             -- By their whole key: a long thread has many others.
             DELETE FROM checkpoint_blob b USING newest n, jsonb_each(n.channel_blobs) AS named
             WHERE b.thread_id = n.thread_id AND b.checkpoint_ns = n.checkpoint_ns AND b.channel = named.key
               AND b.version = named.value ->> 0 AND b.checkpoint_id = named.value ->> 1
               AND b.checkpoint_id = n.checkpoint_id
           )
           DELETE FROM checkpoint c USING newest n
           WHERE c.thread_id = n.thread_id AND c.checkpoint_ns = n.checkpoint_ns AND c.checkpoint_id = n.checkpoint_id`,
    values,
  });
  return rowCount ?? 0;
}

/** Removes the runs' writes to other checkpoints, and restores the writes that they replaced. */
async function restoreWrites(client: pg.ClientBase, values: unknown[]): Promise<void> {
  await client.query({ ...DELETE_RUN_WRITES, values });
  await client.query({
    name: 'engine_restore_writes',
    text: `WITH replaced AS (
             DELETE FROM checkpoint_write_replaced w USING unnest($1::uuid[], $2::uuid[]) AS i (thread_id, run_id)
             WHERE w.thread_id = i.thread_id AND w.run_id = i.run_id RETURNING w.*
           )
           INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, run_id, channel,
                                         type, data)
           SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, idx, task_path, written_by, channel, type, data FROM replaced
           ON CONFLICT DO NOTHING`,
    values,
  });
}
