import type pg from 'pg';
import { lockUnheldThreads } from '../locks.ts';
import type { RunEvents } from '../run-events.ts';
import { deleteLockedThreads } from './delete-thread.ts';
import { keepLatest } from './keep-latest.ts';
import type { PrunedPart, PruneStrategy } from './types.ts';

/**
 * Prunes threads in the caller's transaction. Returns which were pruned, and which need another transaction. Skips
 * threads that do not exist, have a run in flight, or are locked by another transaction.
 */
export async function pruneThreads(
  client: pg.ClientBase,
  threadIds: string[],
  strategy: PruneStrategy,
  events: RunEvents,
): Promise<PrunedPart> {
  const free = await lockFreeThreads(client, threadIds);
  if (strategy === 'delete') {
    const { threads } = await deleteLockedThreads(client, free, events);
    return { deleted: threads, prunedIds: [], remainingIds: [] };
  }
  const isAll = await keepLatest(client, free);
  return { deleted: [], prunedIds: isAll ? free : [], remainingIds: isAll ? [] : free };
}

/**
 * Locks the threads that are not locked and returns those without a run in flight; none can get one before this
 * transaction has ended.
 */
export async function lockFreeThreads(client: pg.ClientBase, threadIds: string[]): Promise<string[]> {
  const existing = [...(await lockUnheldThreads(client, threadIds)).locked];
  if (existing.length === 0) return [];
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_threads_with_runs',
    text: `SELECT thread_id FROM run WHERE thread_id = ANY($1::uuid[]) AND status = 'running'
           UNION SELECT thread_id FROM run WHERE thread_id = ANY($1::uuid[]) AND status = 'pending'`,
    values: [existing],
  });
  const busy = new Set(rows.map((row) => row.thread_id));
  return existing.filter((threadId) => !busy.has(threadId));
}
