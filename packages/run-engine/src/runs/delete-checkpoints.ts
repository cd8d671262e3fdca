import type pg from 'pg';

/** Deletes runs' checkpoints and what they wrote to those of others, so that their threads are as they were before them. */
export async function deleteCheckpointsOfRuns(
  client: pg.ClientBase,
  runs: { threadId: string; runId: string }[],
): Promise<void> {
  const values = [runs.map((run) => run.threadId), runs.map((run) => run.runId)];
  await client.query({
    name: 'engine_delete_run_writes',
    text: `DELETE FROM checkpoint_write w USING unnest($1::uuid[], $2::uuid[]) AS i (thread_id, run_id)
           WHERE w.thread_id = i.thread_id AND (w.run_id = i.run_id OR EXISTS (
             SELECT 1 FROM checkpoint c WHERE c.thread_id = w.thread_id AND c.checkpoint_ns = w.checkpoint_ns
               AND c.checkpoint_id = w.checkpoint_id AND c.run_id = i.run_id))`,
    values,
  });
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
  await client.query({
    name: 'engine_delete_run_checkpoints',
    text: `WITH gone AS (
             DELETE FROM checkpoint c USING unnest($1::uuid[], $2::uuid[]) AS i (thread_id, run_id)
             WHERE c.thread_id = i.thread_id AND c.run_id = i.run_id
             RETURNING c.thread_id, c.checkpoint_ns, c.checkpoint_id
           )
           DELETE FROM checkpoint_blob b USING gone
           WHERE b.thread_id = gone.thread_id AND b.checkpoint_ns = gone.checkpoint_ns
             AND b.checkpoint_id = gone.checkpoint_id`,
    values,
  });
}
