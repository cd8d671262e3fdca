import { NotFoundError } from '@runyard/service-kit';
import type pg from 'pg';
import { lockFences, lockThreads, takeFences } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import type { DeletedRun } from '../types.ts';
import { deleteWebhookContent } from '../webhooks/queue-webhooks.ts';
import { removalDeadline, removeInSteps } from './remove-in-steps.ts';
import { recordRemovals, removeCheckpointsOf } from './thread-removals.ts';
import type { DeletedThread } from './types.ts';

/**
 * Deletes a thread in the caller's transaction, even while a run is running: without the fence, or with it taken, all
 * further writes of that run are refused. Checkpoints of a long thread are removed later (`ThreadRemovals`): nobody
 * sees them. Its runs in flight end as `interrupted` on the bus, and are returned. A stateless run that has the id of the
 * thread is not one of them, and goes on.
 */
export async function deleteThread(
  client: pg.ClientBase,
  threadId: string,
  events: RunEvents,
): Promise<ThreadDeletion> {
  const existing = await lockThreads(client, [threadId]);
  if (!existing.has(threadId)) throw new NotFoundError(`Thread with ID ${threadId} not found`);
  return deleteLockedThreads(client, [threadId], events);
}

export interface ThreadDeletion {
  threads: DeletedThread[];
  /** The runs that had not ended. */
  runs: DeletedRun[];
}

/** Deletes several threads whose rows the caller has locked. */
export async function deleteLockedThreads(
  client: pg.ClientBase,
  threadIds: string[],
  events: RunEvents,
): Promise<ThreadDeletion> {
  if (threadIds.length === 0) return { threads: [], runs: [] };
  const epochs = await lockFences(client, threadIds);
  await events.queueWebhooksBeforeDelete(client, { threadIds });
  const { rows } = await client.query<{
    run_id: string;
    thread_id: string;
    assistant_id: string;
    attempt: number;
    status: string;
  }>({
    name: 'engine_delete_runs_of_threads',
    text: `DELETE FROM run WHERE thread_id = ANY($1::uuid[])
           AND keeps_thread RETURNING run_id, thread_id, assistant_id, attempt, status`,
    values: [threadIds],
  });
  await deleteWebhookContent(
    client,
    rows.map(({ run_id: runId }) => runId),
  );
  const inFlight = rows.filter(({ status }) => status === 'pending' || status === 'running');
  await events.writeFinished(
    client,
    inFlight.map((row) => ({
      runId: row.run_id,
      threadId: row.thread_id,
      assistantId: row.assistant_id,
      attempt: row.attempt,
      status: 'interrupted',
    })),
  );
  const stateless = await findStatelessRuns(client, threadIds);
  await deleteRowsOf(client, threadIds, stateless);
  // Above the epochs of the runs' workers: nothing they still append comes after the end. A stateless run goes on.
  const epochOf = (threadId: string) =>
    (epochs.get(threadId) ?? 0n) + (stateless.get(threadId) === 'running' ? 0n : 1n);
  return {
    threads: threadIds.map((threadId) => ({
      threadId,
      epoch: epochOf(threadId),
      hasStatelessRuns: stateless.has(threadId),
    })),
    runs: inFlight.map(({ run_id: runId, thread_id: threadId, attempt }) => ({
      runId,
      attempt,
      fence: { threadId, epoch: epochOf(threadId), runId },
    })),
  };
}

/** The furthest state of the stateless runs that have the id of a deleted thread: at most one is in flight. */
type StatelessRuns = Map<string, 'running' | 'pending' | 'ended'>;

async function findStatelessRuns(client: pg.ClientBase, threadIds: string[]): Promise<StatelessRuns> {
  const { rows } = await client.query<{ thread_id: string; state: 'running' | 'pending' | 'ended' }>({
    name: 'engine_stateless_runs_of',
    text: `SELECT thread_id, CASE WHEN bool_or(status = 'running') THEN 'running'
                                  WHEN bool_or(status = 'pending') THEN 'pending' ELSE 'ended' END AS state
           FROM run WHERE thread_id = ANY($1::uuid[]) GROUP BY thread_id`,
    values: [threadIds],
  });
  return new Map(rows.map((row) => [row.thread_id, row.state]));
}

async function deleteRowsOf(client: pg.ClientBase, threadIds: string[], stateless: StatelessRuns): Promise<void> {
  const [running, pending] = (['running', 'pending'] as const).map((state) =>
    threadIds.filter((threadId) => stateless.get(threadId) === state),
  ) as [string[], string[]];
  const unused = threadIds.filter((threadId) => !running.includes(threadId) && !pending.includes(threadId));
  // A fence that a run needs cannot mark what is left: the end of that run removes it.
  const deadline = unused.length < threadIds.length ? { until: Number.POSITIVE_INFINITY } : removalDeadline();
  const isAll = await removeInSteps((limit) => removeCheckpointsOf(client, threadIds, limit), deadline);
  await client.query({
    name: 'engine_delete_threads',
    text: 'DELETE FROM thread WHERE thread_id = ANY($1::uuid[])',
    values: [threadIds],
  });
  if (isAll) {
    await client.query({
      name: 'engine_delete_fences',
      text: 'DELETE FROM thread_fence WHERE thread_id = ANY($1::uuid[])',
      values: [unused],
    });
    await takeFences(client, pending);
    return;
  }
  await takeFences(client, threadIds);
  await recordRemovals(client, threadIds);
}
