import { containsAny, toSqlJson } from '@runyard/database';
import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { selectEvents, templateValues } from '../event-rows.ts';
import { dropUnkeptFences, lockFences, lockThreads, type OwnedRun } from '../locks.ts';
import { refreshHeads } from '../queue/thread-heads.ts';
import type { RunEvents } from '../run-events.ts';
import type { Scope } from '../scope.ts';
import { resetThreadStatus } from '../threads/reset-thread-status.ts';
import type { CancelAction } from '../types.ts';
import { endCancelledRuns } from './end-cancelled-runs.ts';
import type { CancelledRun, CancelSelection } from './types.ts';

export interface Cancellation {
  threadIds: string[];
  /** Default: every run of the threads in one of the statuses. */
  runIds?: string[];
  /** Default: pending and running ones. */
  status?: 'pending' | 'running';
  /** Default: runs of any assistant. */
  assistantId?: string;
  /** Default: no scope. */
  scope?: Scope;
  /** Default: runs accepted at any time. */
  upTo?: string;
  action: CancelAction;
  reason: string;
  /**
   * True when a new run on the threads asks for it. It sets their status itself, and reaches no stateless run whose id
   * of a thread is that of such a thread: that run is not one of the thread's.
   */
  isForNewRun?: boolean;
}

/** A request to cancel runs. */
export interface CancelRequest {
  selection: CancelSelection;
  action: CancelAction;
  reason: string;
}

/** Number of threads that one transaction locks. */
const PAGE = 500;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The part of a selection that one transaction cancels. */
type CancelPage = CancelRequest &
  Pick<Cancellation, 'upTo'> & { /** Threads up to this one are done. */ after: string };

interface CancelStep {
  cancelled: CancelledRun[];
  /** The thread to go on after; undefined when the selection has no more. */
  after: string | undefined;
}

/** Cancels all selected runs, in as many transactions as needed. Skips runs that are accepted after the call. */
export async function requestCancel(
  db: pg.Pool,
  request: CancelRequest,
  write: EngineWrites['write'],
  events: RunEvents,
): Promise<CancelledRun[]> {
  const upTo = await findLastAccepted(db, request.selection);
  const all: CancelledRun[] = [];
  for (let next: string | undefined = FIRST_ID; next !== undefined; ) {
    const page: CancelPage = { ...request, upTo, after: next };
    const { cancelled, after } = await write((client) => cancelRuns(client, page, events));
    all.push(...cancelled);
    next = after;
  }
  return all;
}

/**
 * Returns the place in the order of acceptance up to which a whole status is cancelled: without it a cancel would not
 * end while clients create runs. Undefined for selections that one transaction covers (a thread) or that get no new
 * runs (a deleted assistant).
 */
async function findLastAccepted(db: pg.Pool, selection: CancelSelection): Promise<string | undefined> {
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
  drains: number;
  status: 'pending' | 'running' | 'interrupted';
  keeps_thread: boolean;
  action: CancelAction;
  cancel_reason: string;
  has_webhooks: boolean;
}

/**
 * The metadata that decides who may see run `r`: its thread's, or its own when its thread is not kept. Somebody else may
 * have made a thread with the same id.
 */
const VISIBLE_METADATA = `CASE WHEN r.keeps_thread
  THEN (SELECT t.metadata FROM thread t WHERE t.thread_id = r.thread_id) ELSE r.metadata END`;

/** Returns threads with selected runs, in order of their ids: an estimate without locks. */
async function findThreadsInFlight(
  client: pg.ClientBase,
  { selection, action, upTo, after }: CancelPage,
): Promise<string[]> {
  if ('threadId' in selection) return [selection.threadId];
  const isByStatus = 'status' in selection && selection.status !== 'all';
  const statuses = isByStatus ? [selection.status] : ['pending', 'running'];
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_threads_in_flight',
    // Each status has its own partial index by thread. One query for both would read the whole table.
    text: `(${selectThreads('pending', 'true')})
           UNION
           (${selectThreads('running', "(r.cancel_action IS NULL OR r.cancel_action = 'interrupt' AND $3 = 'rollback')")})
           ORDER BY thread_id LIMIT ${PAGE}`,
    values: [
      statuses,
      'assistantId' in selection ? selection.assistantId : null,
      action,
      scopeParameter(selection),
      upTo ?? null,
      after,
    ],
  });
  return rows.map((row) => row.thread_id);
}

const selectThreads = (status: 'pending' | 'running', condition: string) => `
  SELECT DISTINCT r.thread_id FROM run r
  WHERE r.status = '${status}' AND '${status}' = ANY($1::text[]) AND ${condition} AND r.thread_id > $6
    AND ($2::uuid IS NULL OR r.assistant_id = $2) AND ($4::jsonb IS NULL OR ${containsAny(VISIBLE_METADATA, '$4::jsonb')})
    AND ($5::bigint IS NULL OR r.seq <= $5)
  ORDER BY r.thread_id LIMIT ${PAGE}`;

/**
 * Cancels runs in the caller's transaction, and locks their thread rows. It processes a part of a selection without a
 * thread, or none.
 */
async function cancelRuns(client: pg.ClientBase, request: CancelPage, events: RunEvents): Promise<CancelStep> {
  const threadIds = await findThreadsInFlight(client, request);
  if (threadIds.length === 0) return { cancelled: [], after: undefined };
  await lockThreads(client, threadIds);
  const { selection, action, reason, upTo } = request;
  const runIds = 'runIds' in selection ? selection.runIds : undefined;
  const status = 'status' in selection && selection.status !== 'all' ? selection.status : undefined;
  const assistantId = 'assistantId' in selection ? selection.assistantId : undefined;
  const cancellation = { threadIds, runIds, status, assistantId, scope: selection.scope, upTo, action, reason };
  const cancelled = await cancelRunsOfThreads(client, cancellation, events);
  return { cancelled, after: threadIds.length < PAGE ? undefined : threadIds.at(-1) };
}

/**
 * Cancels runs of threads whose rows the caller has locked. A waiting run ends at once: one that never started as
 * `interrupted`, whatever the action, and one that waits for another attempt as the action says. A running run keeps
 * its status: the order on its row is durable, and its worker ends it, or the sweep if the worker is lost. An order
 * only ever becomes stronger: a rollback stays one. The events of new orders, and of runs that end at once, are written
 * by the statement that cancels.
 */
export async function cancelRunsOfThreads(
  client: pg.ClientBase,
  { threadIds, runIds, status, assistantId, scope, upTo, action, reason, isForNewRun = false }: Cancellation,
  events: RunEvents,
): Promise<CancelledRun[]> {
  const epochs = await lockFences(client, threadIds);
  const { rows } = await client.query<CancelRow>({
    name: 'engine_cancel_runs',
    text: `WITH changed AS (
           UPDATE run r
           SET cancel_action = CASE WHEN r.cancel_action = 'rollback' THEN r.cancel_action ELSE $3 END,
               cancel_reason = CASE WHEN r.cancel_action IS NULL OR r.cancel_action <> 'rollback' AND $3 = 'rollback'
                                    THEN $4 ELSE r.cancel_reason END,
               cancel_requested_at = coalesce(r.cancel_requested_at, now()),
               status = CASE WHEN r.status = 'pending' AND r.attempt = 0 THEN 'interrupted' ELSE r.status END,
               ended_at = CASE WHEN r.status = 'pending' AND r.attempt = 0 THEN now() END,
               updated_at = now()
           WHERE r.thread_id = ANY($1::uuid[]) AND r.status IN ('pending', 'running')
             AND ($2::uuid[] IS NULL OR r.run_id = ANY($2::uuid[])) AND ($5::text IS NULL OR r.status = $5)
             AND ($6::uuid IS NULL OR r.assistant_id = $6) AND ($7::jsonb IS NULL OR ${containsAny(VISIBLE_METADATA, '$7::jsonb')})
             AND ($8::bigint IS NULL OR r.seq <= $8) AND (r.keeps_thread OR NOT $9)
           RETURNING r.run_id, r.thread_id, r.assistant_id, r.attempt, r.failures, r.drains, r.status, r.keeps_thread, r.seq,
                     r.cancel_action AS action, r.cancel_reason, r.webhooks IS NOT NULL AS has_webhooks,
                     -- A statement does not see its own changes: the other side is the order of before.
                     r.cancel_action IS DISTINCT FROM
                       (SELECT b.cancel_action FROM run b WHERE b.run_id = r.run_id) AS is_new_order
           ), ordered AS (
             SELECT * FROM changed WHERE is_new_order
           ), never_started AS (
             SELECT * FROM changed WHERE status = 'interrupted'
           ), events AS (
             INSERT INTO outbox (topic, key, event) SELECT topic, key, event FROM (
               ${selectEvents('ordered', 10, ['attempt', 'action'], ['seq', '1 AS step'])}
               UNION ALL
               ${selectEvents('never_started', 14, ['attempt', 'status'], ['seq', '2 AS step'])}
             ) e ORDER BY seq, step
           )
           SELECT run_id, thread_id, assistant_id, attempt, failures, drains, status, keeps_thread, action, cancel_reason,
                  has_webhooks
           FROM changed`,
    values: [
      threadIds,
      runIds ?? null,
      action,
      reason,
      status ?? null,
      assistantId ?? null,
      scopeParameter({ scope }),
      upTo ?? null,
      isForNewRun,
      ...templateValues(events.templates.cancelled),
      ...templateValues(events.templates.finished),
    ],
  });
  const neverStarted = rows.filter((row) => row.status === 'interrupted');
  if (neverStarted.length > 0) {
    await settleNeverStarted(client, neverStarted, { setsThreadStatus: !isForNewRun });
    await events.queueWebhooksOfEnded(
      client,
      neverStarted.map((row) => ({ runId: row.run_id, hasWebhooks: row.has_webhooks })),
    );
  }
  const epochOf = (threadId: string) => epochs.get(threadId) ?? 0n;
  const waiting = rows.filter((row) => row.status === 'pending');
  const rollingBack = await endCancelledRuns(
    client,
    waiting.map((row) => toOwnedRun(row, epochOf(row.thread_id))),
    events,
  );
  const isInFlight = new Set([...rollingBack].map(({ runId }) => runId));
  return rows.map((row) => ({
    runId: row.run_id,
    threadId: row.thread_id,
    attempt: row.attempt,
    action: row.action,
    outcome: row.status === 'running' || isInFlight.has(row.run_id) ? 'ordered' : 'ended',
    fence: { threadId: row.thread_id, epoch: epochOf(row.thread_id), runId: row.run_id },
  }));
}

function scopeParameter({ scope }: Pick<CancelSelection, 'scope'>): string | null {
  return scope === undefined ? null : toSqlJson(scope);
}

function toOwnedRun(row: CancelRow, epoch: bigint): OwnedRun {
  return {
    threadId: row.thread_id,
    runId: row.run_id,
    assistantId: row.assistant_id,
    epoch,
    attempt: row.attempt,
    failures: row.failures,
    drains: row.drains,
    keepsThread: row.keeps_thread,
    cancelAction: row.action,
    cancelReason: row.cancel_reason,
    cancelledForMs: null,
    keyMissingForMs: null,
    hasWebhooks: row.has_webhooks,
  };
}

/**
 * Settles threads of runs that never started and leave no trace: without another run in flight, a thread gets the
 * status of its state.
 */
async function settleNeverStarted(
  client: pg.ClientBase,
  ended: { thread_id: string; keeps_thread: boolean }[],
  { setsThreadStatus }: { setsThreadStatus: boolean },
): Promise<void> {
  const unkept = ended.filter((row) => !row.keeps_thread).map((row) => row.thread_id);
  await dropUnkeptFences(client, unkept);
  await refreshHeads(
    client,
    ended.map((row) => row.thread_id),
  );
  if (!setsThreadStatus) return;
  await resetThreadStatus(
    client,
    ended.filter((row) => row.keeps_thread).map((row) => row.thread_id),
  );
}
