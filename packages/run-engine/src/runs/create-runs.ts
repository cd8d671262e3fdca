import { containsAny, toSqlJson } from '@runyard/database';
import { ConflictError, NotFoundError, TooManyRequestsError } from '@runyard/service-kit';
import type pg from 'pg';
import { UnreadBudgetsError } from '../budgets/budget-errors.ts';
import type { Budgets } from '../budgets/budgets.ts';
import { ThreadHeldError, TooManyPushConfigsError } from '../errors.ts';
import { insertEvents, templateValues } from '../event-rows.ts';
import { findHalt } from '../halts/halt.ts';
import { HaltedError } from '../halts/halted-error.ts';
import { lockUnheldThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { isInScope } from '../scope.ts';
import { findFullTasks, PUSH_CONFIGS_MAX, storePushConfigs } from '../tasks/store-push-configs.ts';
import type { StoredPushConfig } from '../tasks/stored-push-config.ts';
import { fencesOfNewThreads, removeLeftovers } from '../threads/leftovers.ts';
import { expiryIn } from '../threads/thread-ttl.ts';
import type { ThreadTtl } from '../threads/types.ts';
import { recordRefusedWebhooks } from '../webhooks/queue-webhooks.ts';
import { cancelRunsOfThreads } from './cancel-runs.ts';
import { continueTasks } from './continue-tasks.ts';
import type { EncodedRun } from './encode-run.ts';
import { INPUT_PARAMETERS, inputValues, SELECT_INPUT, STORED_COLUMNS } from './run-input.ts';
import type { CancelledRun, CreatedRun } from './types.ts';

export interface CreationRules {
  events: RunEvents;
  budgets: Budgets;
  /** The ttl of threads that the runs create. */
  threadTtl: ThreadTtl | undefined;
  /** Number of runs that may wait on one thread. */
  waitingRunsMax: number;
}

const IN_USE = 'The thread id is in use. A stateless run needs one that nothing else has.';
const FULL = 'Too many runs wait on the thread. Wait for some of them to end, or cancel them.';
/** One of its runs may have ended by then. */
const FULL_RETRY_S = 5;
const BUSY = 'Thread is already running a task. Wait for it to finish or choose a different multitask strategy.';

/**
 * Creates runs, at most one per thread, in the caller's transaction. Returns results in the order of the batch; an
 * error in an item's place concerns that item alone, and nothing of it was written. It does not wait for a thread that
 * another transaction has locked: a run of such a thread gets a `ThreadHeldError`.
 *
 * @param hasReadBudgets whether these runs were looked at by the budgets that there are
 * @throws HaltedError while the deployment is halted, UnreadBudgetsError, for all of them
 */
export async function createRuns(
  client: pg.ClientBase,
  batch: EncodedRun[],
  { events, budgets, threadTtl, waitingRunsMax }: CreationRules,
  hasReadBudgets: boolean,
): Promise<(CreatedRun | Error)[]> {
  const threads = await lockOrCreateThreads(client, batch, threadTtl);
  const taken = await takeStatelessThreads(client, batch);
  const busy = await findBusyThreads(client, batch);
  const late = await findLateAnswers(client, batch);
  const full = await findFullThreads(client, batch, { busy: threads.busy, waitingRunsMax });
  const fullTasks = await findFullTasks(client, pushConfigsOf(batch));
  const refusals = batch.map((item) => findRefusal(item, { ...threads, taken, late, full, fullTasks }, busy));
  const unrefused = batch.filter((_, index) => !refusals[index]);
  if (unrefused.length === 0) return refusals as Error[];

  const accepted = await continueTasks(client, unrefused, threads.interrupted, events);
  const cancelled = await cancelConflictingRuns(client, accepted, busy, events);
  const createdAt = await insertRuns(client, accepted, { events, budgets, hasReadBudgets });
  await recordRefusedWebhooks(client, accepted);
  await storePushConfigs(client, pushConfigsOf(accepted));
  const created = accepted.values();
  return refusals.map((refusal) => {
    if (refusal) return refusal;
    const item = created.next().value!;
    return { run: toCreatedRecord(item, createdAt), cancelled: cancelled.get(item.threadId) ?? [] };
  });
}

function findRefusal(
  item: EncodedRun,
  {
    existing,
    held,
    taken,
    late,
    full,
    fullTasks,
  }: Omit<NamedThreads, 'interrupted' | 'busy'> & Record<'taken' | 'late' | 'full' | 'fullTasks', Set<string>>,
  busy: Set<string>,
): Error | undefined {
  if (item.isStateless && item.statelessThreadId !== undefined && !taken.has(item.threadId)) {
    return new ConflictError(IN_USE, { code: 'thread_exists', internal: { threadId: item.threadId } });
  }
  if (held.has(item.threadId)) return new ThreadHeldError(item.threadId);
  if (!item.isStateless && !existing.has(item.threadId))
    return new NotFoundError('Thread or assistant not found.', { code: 'thread_or_assistant_not_found' });
  if (late.has(item.runId) || (item.multitaskStrategy === 'reject' && busy.has(item.threadId))) {
    return new ConflictError(BUSY, { code: 'thread_busy', internal: { threadId: item.threadId } });
  }
  if (full.has(item.threadId)) {
    return new TooManyRequestsError(FULL, {
      code: 'too_many_waiting_runs',
      retryAfterSeconds: FULL_RETRY_S,
      internal: { threadId: item.threadId },
    });
  }
  if (item.storedPushConfigs.some(({ taskId }) => fullTasks.has(taskId))) {
    return new TooManyPushConfigsError(PUSH_CONFIGS_MAX);
  }
  return undefined;
}

function pushConfigsOf(items: EncodedRun[]): StoredPushConfig[] {
  return items.flatMap(({ storedPushConfigs }) => storedPushConfigs);
}

/**
 * Creates threads in id order, so that two batches wait for each other in only one direction. Returns the created ones;
 * others exist already.
 */
async function createThreads(
  client: pg.ClientBase,
  items: EncodedRun[],
  threadTtl: ThreadTtl | undefined,
): Promise<string[]> {
  if (items.length === 0) return [];
  const { rows } = await client.query<{ thread_id: string; was_used: boolean }>({
    name: 'engine_make_threads',
    text: `WITH threads AS (
             INSERT INTO thread (thread_id, status, metadata, ttl_strategy, ttl_minutes, expires_at)
             SELECT i.thread_id, 'busy', i.metadata, i.strategy, i.minutes, ${expiryIn('i.minutes')}
             FROM unnest($1::uuid[], $2::jsonb[], $3::text[], $4::float8[]) AS i (thread_id, metadata, strategy, minutes)
             ORDER BY i.thread_id
             ON CONFLICT DO NOTHING RETURNING thread_id
           ), made AS (
             SELECT thread_id, now() + make_interval(secs => i.delay) AS head_ready_at
             FROM threads JOIN unnest($1::uuid[], $5::float8[]) AS i (thread_id, delay) USING (thread_id)
           ), ${fencesOfNewThreads('head_ready_at')}
           SELECT thread_id, was_used FROM fences`,
    values: [
      items.map((item) => item.threadId),
      items.map((item) => toSqlJson(item.storedThreadMetadata)),
      items.map((item) => (item.threadTtl ?? threadTtl)?.strategy ?? null),
      items.map((item) => (item.threadTtl ?? threadTtl)?.minutes ?? null),
      items.map((item) => item.afterSeconds ?? 0),
    ],
  });
  await removeLeftovers(
    client,
    rows.filter((row) => row.was_used).map((row) => row.thread_id),
  );
  return rows.map((row) => row.thread_id);
}

/** The threads that runs name. */
interface NamedThreads {
  /** Threads that exist and are locked. */
  existing: Set<string>;
  /** Threads that another transaction has locked, or is creating. */
  held: Set<string>;
  /** Existing threads that wait for the answer to an interrupt. */
  interrupted: Set<string>;
  /** Existing threads on which runs may wait: a thread without any has another status. */
  busy: Set<string>;
}

/** Locks existing threads, and creates those that may be created. */
async function lockOrCreateThreads(
  client: pg.ClientBase,
  batch: EncodedRun[],
  threadTtl: ThreadTtl | undefined,
): Promise<NamedThreads> {
  const named = batch.filter((item) => !item.isStateless);
  const { locked: existing, held, interrupted, busy } = await lockNamedThreads(client, named);
  const missing = named.filter(
    (item) => mayCreateThread(item) && !existing.has(item.threadId) && !held.has(item.threadId),
  );
  const own = batch.filter((item) => item.isStateless && item.keepsThread);
  const found = named.filter(({ threadId }) => existing.has(threadId));
  for (const threadId of await findThreadsOutOfScope(client, found)) existing.delete(threadId);
  const made = new Set(await createThreads(client, [...own, ...missing], threadTtl));
  for (const { threadId } of missing) (made.has(threadId) ? existing : held).add(threadId);
  return { existing, held, interrupted, busy };
}

/** A thread that its creator could not see is not created: the scope reads the metadata as they are stored. */
function mayCreateThread({ ifThreadMissing, threadScope, storedThreadMetadata }: EncodedRun): boolean {
  return ifThreadMissing === 'create' && (threadScope === undefined || isInScope(storedThreadMetadata, threadScope));
}

/** Takes the ids that callers chose for stateless runs. Returns those that nothing else has. */
async function takeStatelessThreads(client: pg.ClientBase, batch: EncodedRun[]): Promise<Set<string>> {
  const chosen = batch.filter((item) => item.isStateless && item.statelessThreadId !== undefined);
  if (chosen.length === 0) return new Set();
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_take_stateless_threads',
    text: `INSERT INTO thread_fence (thread_id)
           SELECT i FROM unnest($1::uuid[]) i WHERE NOT EXISTS (SELECT 1 FROM thread t WHERE t.thread_id = i) ORDER BY i
           ON CONFLICT DO NOTHING RETURNING thread_id`,
    values: [chosen.map((item) => item.threadId)],
  });
  return new Set(rows.map((row) => row.thread_id));
}

function lockNamedThreads(client: pg.ClientBase, named: EncodedRun[]): ReturnType<typeof lockUnheldThreads> {
  if (named.length === 0)
    return Promise.resolve({ locked: new Set(), held: new Set(), interrupted: new Set(), busy: new Set() });
  return lockUnheldThreads(
    client,
    named.map((item) => item.threadId),
  );
}

/** Returns existing threads outside of the scope, which must be locked: their metadata may change. */
async function findThreadsOutOfScope(client: pg.ClientBase, items: EncodedRun[]): Promise<string[]> {
  const scoped = items.filter((item) => item.threadScope !== undefined);
  if (scoped.length === 0) return [];
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_threads_out_of_scope',
    text: `SELECT t.thread_id FROM unnest($1::uuid[], $2::jsonb[]) AS i (thread_id, scope)
           JOIN thread t ON t.thread_id = i.thread_id AND NOT ${containsAny('t.metadata', 'i.scope')}`,
    values: [scoped.map((item) => item.threadId), scoped.map((item) => toSqlJson(item.threadScope))],
  });
  return rows.map((row) => row.thread_id);
}

/**
 * Returns the ids of runs that would answer another which is not the newest of its thread any more. It must be called
 * under the lock.
 */
async function findLateAnswers(client: pg.ClientBase, batch: EncodedRun[]): Promise<Set<string>> {
  const answers = batch.filter((item) => item.followsRunId !== undefined);
  if (answers.length === 0) return new Set();
  const { rows } = await client.query<{ run_id: string }>({
    name: 'engine_late_answers',
    text: `SELECT i.run_id FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS i (run_id, thread_id, follows)
           WHERE i.follows IS DISTINCT FROM
             (SELECT r.run_id FROM run r WHERE r.thread_id = i.thread_id ORDER BY r.seq DESC LIMIT 1)`,
    values: [
      answers.map((item) => item.runId),
      answers.map((item) => item.threadId),
      answers.map((item) => item.followsRunId),
    ],
  });
  return new Set(rows.map((row) => row.run_id));
}

async function findBusyThreads(client: pg.ClientBase, batch: EncodedRun[]): Promise<Set<string>> {
  const asking = batch.filter((item) => !item.isStateless && item.multitaskStrategy !== 'enqueue');
  if (asking.length === 0) return new Set();
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_busy_threads',
    // Two queries are faster than one IN: each has its own partial index.
    text: `SELECT thread_id FROM run WHERE thread_id = ANY($1::uuid[]) AND status = 'running'
           UNION SELECT thread_id FROM run WHERE thread_id = ANY($1::uuid[]) AND status = 'pending'`,
    values: [asking.map((item) => item.threadId)],
  });
  return new Set(rows.map((row) => row.thread_id));
}

/**
 * Returns the threads on which as many runs wait as may. Runs that cancel the waiting ones are not asked about. The look
 * is at one thread's entries of an index, and ends at the limit.
 */
async function findFullThreads(
  client: pg.ClientBase,
  batch: EncodedRun[],
  { busy, waitingRunsMax }: { busy: Set<string>; waitingRunsMax: number },
): Promise<Set<string>> {
  const queued = batch.filter((item) => item.multitaskStrategy === 'enqueue' && busy.has(item.threadId));
  if (queued.length === 0) return new Set();
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_full_threads',
    text: `SELECT i.thread_id FROM unnest($1::uuid[]) AS i (thread_id)
           WHERE EXISTS (SELECT 1 FROM run r WHERE r.thread_id = i.thread_id AND r.status = 'pending' OFFSET $2 - 1)`,
    values: [queued.map((item) => item.threadId), waitingRunsMax],
  });
  return new Set(rows.map((row) => row.thread_id));
}

/** Cancels the runs in flight on the threads of `interrupt` and `rollback` runs, including waiting ones. */
async function cancelConflictingRuns(
  client: pg.ClientBase,
  accepted: EncodedRun[],
  busy: Set<string>,
  events: RunEvents,
): Promise<Map<string, CancelledRun[]>> {
  const byThread = new Map<string, CancelledRun[]>();
  for (const action of ['interrupt', 'rollback'] as const) {
    const threadIds = accepted
      .filter((item) => item.multitaskStrategy === action && busy.has(item.threadId))
      .map((item) => item.threadId);
    if (threadIds.length === 0) continue;
    const reason = `${action} requested by a new run on the thread (multitask_strategy "${action}")`;
    for (const run of await cancelRunsOfThreads(client, { threadIds, action, reason, isForNewRun: true }, events)) {
      byThread.set(run.threadId, [...(byThread.get(run.threadId) ?? []), run]);
    }
  }
  return byThread;
}

/** @throws HaltedError, UnreadBudgetsError, which have to undo the whole transaction */
async function insertRuns(
  client: pg.ClientBase,
  items: EncodedRun[],
  { events, budgets, hasReadBudgets }: Pick<CreationRules, 'events' | 'budgets'> & { hasReadBudgets: boolean },
): Promise<Date> {
  const { rows } = await client.query<{ created_at: Date; has_budgets: boolean }>({
    name: 'engine_insert_runs',
    text: `WITH input AS (
             ${SELECT_INPUT}
           ), fences AS (
             INSERT INTO thread_fence (thread_id, head_ready_at)
             SELECT thread_id, now() + make_interval(secs => delay) FROM input WHERE NOT keeps_thread
             -- Ids that callers chose were taken before.
             ON CONFLICT DO NOTHING
           ), threads AS (
             UPDATE thread t
             SET status = 'busy', updated_at = now(),
                 metadata = t.metadata || jsonb_build_object('graph_id', i.graph_id, 'assistant_id', i.assistant_id)
             FROM input i
             -- Threads made by this transaction have it all already; those whose runs it has ended are not busy any more.
             WHERE t.thread_id = i.thread_id AND i.keeps_thread AND (t.updated_at <> now() OR t.status <> 'busy')
           ), events AS (
             ${insertEvents('input', INPUT_PARAMETERS + 1, ['graph_id', 'metadata', 'creator'])}
           )
           INSERT INTO run (${STORED_COLUMNS}, ready_at)
           SELECT ${STORED_COLUMNS}, now() + make_interval(secs => delay)
           FROM input
           -- A halt that was committed before this statement refuses all of them, and so does a budget that nobody read.
           WHERE NOT EXISTS (SELECT 1 FROM deployment WHERE halt_reason IS NOT NULL)
             AND ($${INPUT_PARAMETERS + 5} OR NOT EXISTS (SELECT 1 FROM budget))
           ORDER BY position
           RETURNING created_at, EXISTS (SELECT 1 FROM budget) AS has_budgets`,
    values: [...inputValues(items), ...templateValues(events.templates.created), hasReadBudgets],
  });
  const [first] = rows;
  if (!first) throw await refusalOfAll(client, budgets, hasReadBudgets);
  budgets.areRead = first.has_budgets;
  return first.created_at;
}

async function refusalOfAll(client: pg.ClientBase, budgets: Budgets, hasReadBudgets: boolean): Promise<Error> {
  const halt = await findHalt(client);
  if (halt) return new HaltedError(halt.reason);
  if (hasReadBudgets) return new HaltedError('it is being resumed');
  budgets.areRead = true;
  return new UnreadBudgetsError('The deployment has budgets now');
}

function toCreatedRecord(item: EncodedRun, createdAt: Date): CreatedRun['run'] {
  return {
    runId: item.runId,
    threadId: item.threadId,
    assistantId: item.assistantId,
    status: 'pending',
    metadata: item.metadata,
    kwargs: item.kwargs,
    multitaskStrategy: item.multitaskStrategy,
    attempt: 0,
    keepsThread: item.keepsThread,
    cancelAction: null,
    cancelReason: null,
    firstEventId: null,
    error: null,
    createdAt,
    updatedAt: createdAt,
  };
}
