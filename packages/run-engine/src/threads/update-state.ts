import { toSqlText } from '@runyard/database';
import { onPg, settleKeys } from '@runyard/idempotency';
import { ConflictError, NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { FencedError } from '../errors.ts';
import { lockFences, lockThreads, takeFences } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { findWaitingTasks, supersedeTasks } from '../tasks/supersede-tasks.ts';
import type { BoundKey, Fence } from '../types.ts';
import { STATE_WRITE_TIME } from './outdated-states.ts';
import { EXPIRY_AFTER_CHANGE } from './thread-ttl.ts';
import type { CommitStateUpdate } from './types.ts';

/**
 * Returns the right to write a thread that has no run in flight: the fence for the checkpoints of a state update. It is
 * valid until a run is claimed, which makes it stale; nothing waits.
 */
export async function beginStateUpdate(client: pg.ClientBase, threadId: string): Promise<Fence> {
  const existing = await lockThreads(client, [threadId]);
  if (!existing.has(threadId)) throw new NotFoundError(`Thread with ID ${threadId} not found`);
  await lockFences(client, [threadId]);
  const { rows } = await client.query<{ run_id: string }>({
    name: 'engine_runs_in_flight',
    text: `SELECT run_id FROM run WHERE thread_id = $1 AND status = 'running'
           UNION ALL SELECT run_id FROM run WHERE thread_id = $1 AND status = 'pending'`,
    values: [threadId],
  });
  if (rows.length > 0) {
    throw new ConflictError(`Thread ${threadId} has in-flight runs: ${rows.map((row) => row.run_id).join(', ')}`, {
      code: 'thread_has_runs_in_flight',
    });
  }
  const epochs = await takeFences(client, [threadId]);
  await client.query({
    name: 'engine_state_is_being_written',
    text: `INSERT INTO thread_state_behind (thread_id, look_at) VALUES ($1, now() + ${STATE_WRITE_TIME})
           ON CONFLICT (thread_id) DO UPDATE SET look_at = excluded.look_at`,
    values: [threadId],
  });
  return { threadId, epoch: epochs.get(threadId)!, runId: null };
}

/**
 * Makes the checkpoint of a state update the thread's newest state, and binds the idempotency key of its request. A task
 * whose question the update takes away has ended. Throws `FencedError` when a run has begun since, KeyTakenError.
 */
export async function commitStateUpdate(
  client: pg.ClientBase,
  update: CommitStateUpdate,
  { events, bound }: { events: RunEvents; bound?: BoundKey | undefined },
): Promise<void> {
  const { threadId, epoch } = update.fence;
  await lockThreads(client, [threadId]);
  const epochs = await lockFences(client, [threadId]);
  if (epochs.get(threadId) !== epoch) throw new FencedError(threadId, epoch);
  if (update.status !== null && update.status !== 'interrupted') {
    const waiting = await findWaitingTasks(client, [threadId]);
    await supersedeTasks(
      client,
      [...waiting.values()].map(({ runId }) => runId),
      events,
    );
  }
  await client.query({
    name: 'engine_commit_state_update',
    text: `WITH state AS (
             INSERT INTO thread_state (thread_id, "values", interrupts, checkpoint_id) VALUES ($1, $2, $3, $4)
             ON CONFLICT (thread_id) DO UPDATE
             SET "values" = excluded."values", interrupts = excluded.interrupts, checkpoint_id = excluded.checkpoint_id
           ), up_to_date AS (
             DELETE FROM thread_state_behind WHERE thread_id = $1
           )
           UPDATE thread t
           SET status = CASE WHEN EXISTS (SELECT 1 FROM run r WHERE r.thread_id = $1 AND r.status = 'pending')
                             THEN 'busy' ELSE coalesce($5, t.status) END,
               error = CASE WHEN $5::text IS NULL THEN t.error END, updated_at = now(), state_updated_at = now(),
               expires_at = ${EXPIRY_AFTER_CHANGE}
           WHERE t.thread_id = $1`,
    values: [
      threadId,
      update.values && Buffer.from(update.values),
      update.interrupts && Buffer.from(update.interrupts),
      toSqlText(update.checkpointId),
      update.status,
    ],
  });
  if (bound) await settleKeys(onPg(client), [bound]);
}
