import type pg from 'pg';
import { lockFences, lockThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { settleThreads } from '../threads/settle-threads.ts';
import type { CancelAction, CancelledRun, CancelSelection } from '../types.ts';

export interface Cancellation {
  threadIds: string[];
  /** Left out: every run of the threads in one of the statuses. */
  runIds?: string[];
  /** Left out: pending and running ones. */
  status?: 'pending' | 'running';
  /** Left out: whosever they are. */
  assistantId?: string;
  action: CancelAction;
  reason: string;
  /** True: the caller sets the threads' status itself. */
  leavesThreads?: boolean;
}

/** The threads that hold the runs selected; a guess without locks, at most 500 at a time. */
async function threadsInFlight(client: pg.ClientBase, selection: CancelSelection): Promise<string[]> {
  if ('threadId' in selection) return [selection.threadId];
  const isByStatus = 'status' in selection && selection.status !== 'all';
  const statuses = isByStatus ? [selection.status] : ['pending', 'running'];
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_threads_in_flight',
    text: `SELECT DISTINCT thread_id FROM run
           WHERE status = ANY($1::text[]) AND status IN ('pending', 'running')
             AND (cancel_action IS NULL OR status = 'pending')
             AND ($2::uuid IS NULL OR assistant_id = $2) LIMIT 500`,
    values: [statuses, 'assistantId' in selection ? selection.assistantId : null],
  });
  return rows.map((row) => row.thread_id);
}

/** Cancels runs in the caller's transaction; thread rows are locked here. Of a selection that names no thread a part, or none. */
export async function cancelRuns(
  client: pg.ClientBase,
  { selection, action, reason }: { selection: CancelSelection; action: CancelAction; reason: string },
  events: RunEvents,
): Promise<CancelledRun[]> {
  const threadIds = await threadsInFlight(client, selection);
  await lockThreads(client, threadIds);
  const runIds = 'runIds' in selection ? selection.runIds : undefined;
  const status = 'status' in selection && selection.status !== 'all' ? selection.status : undefined;
  const assistantId = 'assistantId' in selection ? selection.assistantId : undefined;
  return cancelRunsOfThreads(client, { threadIds, runIds, status, assistantId, action, reason }, events);
}

/**
 * Cancels runs of threads whose rows the caller has locked. A run that waits is `interrupted` at once. One that runs keeps
 * its status: the order on its row is durable and its worker, or the sweep if that is gone, ends it. An order is only ever
 * made stronger: a rollback stays one.
 */
export async function cancelRunsOfThreads(
  client: pg.ClientBase,
  { threadIds, runIds, status, assistantId, action, reason, leavesThreads }: Cancellation,
  events: RunEvents,
): Promise<CancelledRun[]> {
  const epochs = await lockFences(client, threadIds);
  const { rows } = await client.query({
    name: 'engine_cancel_runs',
    text: `UPDATE run r
           SET cancel_action = CASE WHEN r.cancel_action = 'rollback' THEN r.cancel_action ELSE $3 END,
               cancel_reason = CASE WHEN r.cancel_action IS NULL OR r.cancel_action <> 'rollback' AND $3 = 'rollback'
                                    THEN $4 ELSE r.cancel_reason END,
               cancel_requested_at = coalesce(r.cancel_requested_at, now()),
               status = CASE WHEN r.status = 'pending' THEN 'interrupted' ELSE r.status END,
               ended_at = CASE WHEN r.status = 'pending' THEN now() END,
               updated_at = now()
           WHERE r.thread_id = ANY($1::uuid[]) AND r.status IN ('pending', 'running')
             AND ($2::uuid[] IS NULL OR r.run_id = ANY($2::uuid[])) AND ($5::text IS NULL OR r.status = $5)
             AND ($6::uuid IS NULL OR r.assistant_id = $6)
           RETURNING r.run_id, r.thread_id, r.assistant_id, r.attempt, r.status, r.keeps_thread, r.cancel_action,
                     r.webhooks IS NOT NULL AS has_webhooks`,
    values: [threadIds, runIds ?? null, action, reason, status ?? null, assistantId ?? null],
  });
  const ended = rows.filter((row) => row.status === 'interrupted');
  if (ended.length > 0) {
    await freeThreads(client, ended, leavesThreads ?? false);
    await events.finished(
      client,
      ended.map((row) => ({
        runId: row.run_id,
        threadId: row.thread_id,
        assistantId: row.assistant_id,
        attempt: row.attempt,
        status: 'interrupted',
        hasWebhooks: row.has_webhooks,
      })),
    );
  }
  return rows.map((row) => ({
    runId: row.run_id,
    threadId: row.thread_id,
    attempt: row.attempt,
    action: row.cancel_action,
    outcome: row.status === 'interrupted' ? 'ended' : 'ordered',
    fence: { threadId: row.thread_id, epoch: epochs.get(row.thread_id) ?? 0n, runId: row.run_id },
  }));
}

/** Runs that never started leave no trace: a thread without another run in flight goes back to what its state says. */
async function freeThreads(
  client: pg.ClientBase,
  ended: { thread_id: string; keeps_thread: boolean }[],
  leavesThreads: boolean,
): Promise<void> {
  const unkept = ended.filter((row) => !row.keeps_thread).map((row) => row.thread_id);
  if (unkept.length > 0) {
    await client.query({
      name: 'engine_drop_fences',
      text: 'DELETE FROM thread_fence WHERE thread_id = ANY($1::uuid[])',
      values: [unkept],
    });
  }
  if (leavesThreads) return;
  await settleThreads(
    client,
    ended.filter((row) => row.keeps_thread).map((row) => row.thread_id),
  );
}
