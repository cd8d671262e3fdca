import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { dropUnkeptFences, lockFences, lockThreads, type OwnedRun } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { settleThreads } from '../threads/settle-threads.ts';
import type { CancelAction, Scope } from '../types.ts';
import { endInterrupted } from './end-interrupted.ts';
import type { CancelledRun, CancelSelection } from './types.ts';

export interface Cancellation {
  threadIds: string[];
  /** Left out: every run of the threads in one of the statuses. */
  runIds?: string[];
  /** Left out: pending and running ones. */
  status?: 'pending' | 'running';
  /** Left out: of any. */
  assistantId?: string;
  /** Left out: whosever they are. */
  scope?: Scope;
  /** Left out: whenever they were accepted. */
  upTo?: string;
  action: CancelAction;
  reason: string;
  /** True: the caller sets the threads' status itself, to that of a thread with a run in flight. */
  leavesThreads?: boolean;
}

/** What somebody asked for. */
export interface CancelRequest {
  selection: CancelSelection;
  action: CancelAction;
  reason: string;
}

/** What one step of a cancel did. Of a selection that names no thread there may be more. */
interface CancelStep {
  cancelled: CancelledRun[];
  mayHaveMore: boolean;
}

/** Cancels all that is selected, in as many transactions as it takes. What is accepted after this was called stays. */
export async function requestCancel(
  db: pg.Pool,
  request: CancelRequest,
  write: EngineWrites['write'],
  events: RunEvents,
): Promise<CancelledRun[]> {
  const upTo = await lastAccepted(db, request.selection);
  const all: CancelledRun[] = [];
  for (;;) {
    const { cancelled, mayHaveMore } = await write((client) => cancelRuns(client, { ...request, upTo }, events));
    all.push(...cancelled);
    if (!mayHaveMore) return all;
  }
}

/**
 * The place in the order of acceptance up to which a whole status is cancelled: clients go on asking for runs meanwhile, and there would
 * be no end. Nobody asks for more runs of a thread in one step, or of an assistant that is gone: undefined.
 */
async function lastAccepted(db: pg.Pool, selection: CancelSelection): Promise<string | undefined> {
  if ('threadId' in selection || 'assistantId' in selection) return undefined;
  const { rows } = await db.query<{ seq: string }>({
    name: 'engine_last_accepted',
    text: 'SELECT last_value AS seq FROM run_seq_seq',
  });
  return rows[0]!.seq;
}

interface CancelRow {
  run_id: string;
  thread_id: string;
  assistant_id: string;
  attempt: number;
  failures: number;
  status: 'pending' | 'running' | 'interrupted';
  keeps_thread: boolean;
  cancel_action: CancelAction;
  cancel_reason: string;
  has_webhooks: boolean;
  /** There was no order before, or a weaker one. */
  is_new_order: boolean;
}

/** The metadata that say whose run `r` is: its thread's, or its own when its thread is not kept. */
const METADATA = 'coalesce((SELECT t.metadata FROM thread t WHERE t.thread_id = r.thread_id), r.metadata)';

/** The threads that hold the runs selected; a guess without locks, at most 500 at a time. */
async function threadsInFlight(
  client: pg.ClientBase,
  { selection, action, upTo }: CancelRequest & Pick<Cancellation, 'upTo'>,
): Promise<string[]> {
  if ('threadId' in selection) return [selection.threadId];
  const isByStatus = 'status' in selection && selection.status !== 'all';
  const statuses = isByStatus ? [selection.status] : ['pending', 'running'];
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_threads_in_flight',
    text: `SELECT DISTINCT r.thread_id FROM run r
           WHERE r.status = ANY($1::text[]) AND r.status IN ('pending', 'running')
             AND (r.status = 'pending' OR r.cancel_action IS NULL OR (r.cancel_action = 'interrupt' AND $3 = 'rollback'))
             AND ($2::uuid IS NULL OR r.assistant_id = $2) AND ($4::jsonb IS NULL OR ${METADATA} @> $4)
             AND ($5::bigint IS NULL OR r.seq <= $5) LIMIT 500`,
    values: [
      statuses,
      'assistantId' in selection ? selection.assistantId : null,
      action,
      scopeParameter(selection),
      upTo ?? null,
    ],
  });
  return rows.map((row) => row.thread_id);
}

/** Cancels runs in the caller's transaction; thread rows are locked here. Of a selection that names no thread a part, or none. */
async function cancelRuns(
  client: pg.ClientBase,
  request: CancelRequest & Pick<Cancellation, 'upTo'>,
  events: RunEvents,
): Promise<CancelStep> {
  const threadIds = await threadsInFlight(client, request);
  if (threadIds.length === 0) return { cancelled: [], mayHaveMore: false };
  await lockThreads(client, threadIds);
  const { selection, action, reason, upTo } = request;
  const runIds = 'runIds' in selection ? selection.runIds : undefined;
  const status = 'status' in selection && selection.status !== 'all' ? selection.status : undefined;
  const assistantId = 'assistantId' in selection ? selection.assistantId : undefined;
  const cancellation = { threadIds, runIds, status, assistantId, scope: selection.scope, upTo, action, reason };
  const cancelled = await cancelRunsOfThreads(client, cancellation, events);
  // What has its order, or is over, is not found again.
  return { cancelled, mayHaveMore: !('threadId' in selection) };
}

/**
 * Cancels runs of threads whose rows the caller has locked. A run that waits is over at once: one that never started as
 * `interrupted`, whichever the action, one that waits for another attempt as the action says. One that runs keeps its status:
 * the order on its row is durable and its worker, or the sweep if that is gone, ends it. An order is only ever made
 * stronger: a rollback stays one.
 */
export async function cancelRunsOfThreads(
  client: pg.ClientBase,
  { threadIds, runIds, status, assistantId, scope, upTo, action, reason, leavesThreads }: Cancellation,
  events: RunEvents,
): Promise<CancelledRun[]> {
  const epochs = await lockFences(client, threadIds);
  const { rows } = await client.query<CancelRow>({
    name: 'engine_cancel_runs',
    text: `UPDATE run r
           SET cancel_action = CASE WHEN r.cancel_action = 'rollback' THEN r.cancel_action ELSE $3 END,
               cancel_reason = CASE WHEN r.cancel_action IS NULL OR r.cancel_action <> 'rollback' AND $3 = 'rollback'
                                    THEN $4 ELSE r.cancel_reason END,
               cancel_requested_at = coalesce(r.cancel_requested_at, now()),
               status = CASE WHEN r.status = 'pending' AND r.attempt = 0 THEN 'interrupted' ELSE r.status END,
               ended_at = CASE WHEN r.status = 'pending' AND r.attempt = 0 THEN now() END,
               updated_at = now()
           WHERE r.thread_id = ANY($1::uuid[]) AND r.status IN ('pending', 'running')
             AND ($2::uuid[] IS NULL OR r.run_id = ANY($2::uuid[])) AND ($5::text IS NULL OR r.status = $5)
             AND ($6::uuid IS NULL OR r.assistant_id = $6) AND ($7::jsonb IS NULL OR ${METADATA} @> $7)
             AND ($8::bigint IS NULL OR r.seq <= $8)
           RETURNING r.run_id, r.thread_id, r.assistant_id, r.attempt, r.failures, r.status, r.keeps_thread,
                     r.cancel_action, r.cancel_reason, r.webhooks IS NOT NULL AS has_webhooks,
                     -- A statement does not see its own changes: the other side is the order of before.
                     r.cancel_action IS DISTINCT FROM
                       (SELECT b.cancel_action FROM run b WHERE b.run_id = r.run_id) AS is_new_order`,
    values: [
      threadIds,
      runIds ?? null,
      action,
      reason,
      status ?? null,
      assistantId ?? null,
      scopeParameter({ scope }),
      upTo ?? null,
    ],
  });
  const ordered = rows.filter((row) => row.is_new_order);
  await events.cancelled(
    client,
    ordered.map((row) => ({ ...eventRun(row), action: row.cancel_action })),
  );
  const neverStarted = rows.filter((row) => row.status === 'interrupted');
  if (neverStarted.length > 0) {
    await freeThreads(client, neverStarted, leavesThreads ?? false);
    await events.finished(
      client,
      neverStarted.map((row) => ({ ...eventRun(row), status: 'interrupted', hasWebhooks: row.has_webhooks })),
    );
  }
  const epochOf = (threadId: string) => epochs.get(threadId) ?? 0n;
  const waiting = rows.filter((row) => row.status === 'pending');
  const goingOn = await endInterrupted(
    client,
    waiting.map((row) => waitingRun(row, epochOf(row.thread_id))),
    events,
  );
  const isInFlight = new Set([...goingOn].map(({ runId }) => runId));
  return rows.map((row) => ({
    runId: row.run_id,
    threadId: row.thread_id,
    attempt: row.attempt,
    action: row.cancel_action,
    outcome: row.status === 'running' || isInFlight.has(row.run_id) ? 'ordered' : 'ended',
    fence: { threadId: row.thread_id, epoch: epochOf(row.thread_id), runId: row.run_id },
  }));
}

function eventRun({ run_id: runId, thread_id: threadId, assistant_id: assistantId, attempt }: CancelRow) {
  return { runId, threadId, assistantId, attempt };
}

function scopeParameter({ scope }: Pick<CancelSelection, 'scope'>): string | null {
  return scope === undefined ? null : toSqlJson(scope);
}

function waitingRun(row: CancelRow, epoch: bigint): OwnedRun {
  return {
    threadId: row.thread_id,
    runId: row.run_id,
    assistantId: row.assistant_id,
    epoch,
    attempt: row.attempt,
    failures: row.failures,
    keepsThread: row.keeps_thread,
    cancelAction: row.cancel_action,
    cancelReason: row.cancel_reason,
    cancelledForMs: null,
    hasWebhooks: row.has_webhooks,
  };
}

/** Runs that never started leave no trace: a thread without another run in flight goes back to what its state says. */
async function freeThreads(
  client: pg.ClientBase,
  ended: { thread_id: string; keeps_thread: boolean }[],
  leavesThreads: boolean,
): Promise<void> {
  const unkept = ended.filter((row) => !row.keeps_thread).map((row) => row.thread_id);
  await dropUnkeptFences(client, unkept);
  if (leavesThreads) return;
  await settleThreads(
    client,
    ended.filter((row) => row.keeps_thread).map((row) => row.thread_id),
  );
}
