import { toSqlJson, toSqlText } from '@runyard/database';
import type pg from 'pg';
import { insertEvents, templateValues } from '../event-rows.ts';
import { NEXT_EPOCH, type OwnedRun } from '../locks.ts';
import { headAt, nextReadyAt } from '../queue/thread-heads.ts';
import type { RunEvents } from '../run-events.ts';
import { TASK_CANCELED } from '../tasks/cancel-waiting-task.ts';
import { NEEDS_AUTH } from '../tasks/needs-auth.ts';
import { SUPERSEDED } from '../tasks/supersede-tasks.ts';
import { EXPIRY_AFTER_CHANGE } from '../threads/thread-ttl.ts';
import type { ErrorInfo } from '../types.ts';
import type { FinishRun } from './types.ts';

/** The end of a running run. Null values, interrupts and checkpoint leave the thread's state as it is. */
export interface RunEnding
  extends Pick<FinishRun, 'status' | 'threadStatus' | 'values' | 'interrupts' | 'checkpointId'> {
  run: OwnedRun;
  /** The error on the run. */
  error: ErrorInfo | null;
  /** The error on the thread. */
  threadError: ErrorInfo | null;
  firstEventId?: string;
  /** As in `EncodedFinish`. */
  needsAuth?: boolean;
}

/**
 * The interrupts of the thread of the run `e` from now on. A run that was stopped or failed before it wrote the checkpoint
 * that it reached has answered nothing: the thread still waits for what it asked before.
 */
const INTERRUPTS = `CASE WHEN e.status = 'success' OR EXISTS (
    SELECT 1 FROM checkpoint c
    WHERE c.thread_id = e.thread_id AND c.checkpoint_ns = '' AND c.checkpoint_id = e.checkpoint_id AND c.run_id = e.run_id
  ) THEN e.interrupts ELSE coalesce(e.interrupts, (SELECT t.interrupts FROM thread_state t WHERE t.thread_id = e.thread_id)) END`;

/** True when the thread of each ended run has another run that may start now; by thread id. */
export type NextRuns = Map<string, boolean>;

/**
 * Brings runs to a terminal status in the caller's transaction, at most one per thread, and frees their threads. The
 * runs are running (`lockOwnedRuns`) or wait for another attempt; their thread and fence rows are locked.
 */
export async function endRuns(client: pg.ClientBase, endings: RunEnding[], events: RunEvents): Promise<NextRuns> {
  if (endings.length === 0) return new Map();
  const { rows } = await client.query<{ thread_id: string; has_next: boolean }>({
    name: 'engine_end_runs',
    text: `WITH e AS (
             -- The id of a thread that is not kept may have been given to one that is, while the run was under way.
             SELECT e.*, n.ready_at AS next_ready_at, e.keeps_thread OR EXISTS (SELECT 1 FROM thread t WHERE t.thread_id = e.thread_id) AS keeps_fence
             FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::text[],
                         $8::jsonb[], $9::jsonb[], $10::boolean[], $11::text[], $12::boolean[])
               AS e (run_id, thread_id, status, thread_status, result, interrupts, checkpoint_id, error, thread_error,
                     keeps_thread, first_event_id, needs_auth)
             CROSS JOIN LATERAL (SELECT ${nextReadyAt('e.thread_id', 'e.run_id')} AS ready_at) n
           ), ended AS (
             UPDATE run r
             SET status = e.status, result = e.result, error = e.error, worker_id = NULL, updated_at = now(),
                 ended_at = now(), first_event_id = coalesce(e.first_event_id, r.first_event_id),
                 metadata = CASE
                   WHEN r.metadata ? 'task_id' AND e.status = 'success' AND e.thread_status = 'interrupted'
                        AND e.next_ready_at IS NOT NULL
                     -- The next run of the thread takes its question away.
                     THEN r.metadata || '{"${TASK_CANCELED}": "${SUPERSEDED}"}'
                   WHEN e.needs_auth AND r.metadata ? 'task_id' THEN r.metadata || '{"${NEEDS_AUTH}": true}'
                   ELSE r.metadata END
             FROM e WHERE r.run_id = e.run_id
             RETURNING r.run_id, r.thread_id, r.assistant_id, r.attempt, r.status, r.error
           ), states AS (
             INSERT INTO thread_state AS s (thread_id, "values", interrupts, checkpoint_id)
             SELECT thread_id, result, ${INTERRUPTS}, checkpoint_id FROM e
             WHERE keeps_thread AND (result IS NOT NULL OR checkpoint_id IS NOT NULL)
             ON CONFLICT (thread_id) DO UPDATE
             SET "values" = coalesce(excluded."values", s."values"), interrupts = excluded.interrupts,
                 checkpoint_id = coalesce(excluded.checkpoint_id, s.checkpoint_id)
           ), threads AS (
             UPDATE thread t
             SET status = CASE WHEN e.next_ready_at IS NULL THEN e.thread_status ELSE 'busy' END,
                 error = e.thread_error, updated_at = now(), expires_at = ${EXPIRY_AFTER_CHANGE},
                 state_updated_at = CASE WHEN e.checkpoint_id IS NULL THEN t.state_updated_at ELSE now() END
             FROM e WHERE t.thread_id = e.thread_id AND e.keeps_thread
           ), fences AS (
             UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = NULL, head_ready_at = ${headAt('e.next_ready_at')}
             FROM e WHERE f.thread_id = e.thread_id AND e.keeps_fence AND (f.run_id IS NULL OR f.run_id = e.run_id)
           ), behind AS (
             -- It wrote checkpoints, and nobody can say what state they are.
             INSERT INTO thread_state_behind (thread_id)
             SELECT thread_id FROM e WHERE keeps_thread AND checkpoint_id IS NULL
               AND EXISTS (SELECT 1 FROM checkpoint c WHERE c.run_id = e.run_id)
             ON CONFLICT (thread_id) DO UPDATE SET look_at = now()
           ), up_to_date AS (
             DELETE FROM thread_state_behind b USING e WHERE b.thread_id = e.thread_id AND e.checkpoint_id IS NOT NULL
           ), replaced AS (
             DELETE FROM checkpoint_write_replaced w USING e WHERE w.thread_id = e.thread_id AND w.run_id = e.run_id
           ), unkept AS (
             DELETE FROM thread_fence f USING e WHERE f.thread_id = e.thread_id AND NOT e.keeps_fence
           ), events AS (
             ${insertEvents('ended', 13, ['attempt', 'status', 'error'])}
           )
           SELECT thread_id, coalesce(next_ready_at <= now(), false) AS has_next FROM e`,
    values: [
      endings.map((ending) => ending.run.runId),
      endings.map((ending) => ending.run.threadId),
      endings.map((ending) => ending.status),
      endings.map((ending) => ending.threadStatus),
      endings.map((ending) => bytesOf(ending.values)),
      endings.map((ending) => bytesOf(ending.interrupts)),
      endings.map((ending) => (ending.checkpointId === null ? null : toSqlText(ending.checkpointId))),
      endings.map((ending) => ending.error && toSqlJson(ending.error)),
      endings.map((ending) => ending.threadError && toSqlJson(ending.threadError)),
      endings.map((ending) => ending.run.keepsThread),
      endings.map((ending) => ending.firstEventId ?? null),
      endings.map((ending) => ending.needsAuth ?? false),
      ...templateValues(events.templates.finished),
    ],
  });
  await events.queueWebhooksOfEnded(
    client,
    endings.map(({ run }) => run),
  );
  return new Map(rows.map((row) => [row.thread_id, row.has_next]));
}

/** Returns the end that a durable cancel order demands, whatever else happened to the run. */
export function interruptedEnding(
  run: OwnedRun,
  reached: Pick<FinishRun, 'values' | 'interrupts' | 'checkpointId'>,
): RunEnding {
  return {
    run,
    ...reached,
    status: 'interrupted',
    threadStatus: 'interrupted',
    error: null,
    threadError: { error: 'UserInterrupt', message: run.cancelReason ?? 'interrupt requested' },
  };
}

function bytesOf(bytes: Uint8Array | null): Buffer | null {
  if (bytes === null) return null;
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
