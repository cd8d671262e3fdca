import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { lockFences, lockThreads, takeFences } from '../locks.ts';
import { settleThreads } from '../threads/settle-threads.ts';

/** Deletes a run in the caller's transaction, whatever its status. One that runs loses its thread at once. */
export async function deleteRun(client: pg.ClientBase, threadId: string, runId: string): Promise<void> {
  await lockThreads(client, [threadId]);
  await lockFences(client, [threadId]);
  const { rows } = await client.query<{ status: string; keeps_thread: boolean }>({
    name: 'engine_delete_run',
    text: 'DELETE FROM run WHERE run_id = $2 AND thread_id = $1 RETURNING status, keeps_thread',
    values: [threadId, runId],
  });
  const run = rows[0];
  if (!run) throw new NotFoundError('Run not found');
  if (!run.keeps_thread) {
    await client.query({
      name: 'engine_drop_fences',
      text: 'DELETE FROM thread_fence WHERE thread_id = ANY($1::uuid[])',
      values: [[threadId]],
    });
    return;
  }
  if (run.status === 'running') await takeFences(client, [threadId]);
  if (run.status === 'running' || run.status === 'pending') await settleThreads(client, [threadId]);
}
