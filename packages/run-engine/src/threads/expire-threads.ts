import type pg from 'pg';
import type { RunEvents } from '../run-events.ts';
import { deleteLockedThreads } from './delete-thread.ts';
import { keepLatest } from './keep-latest.ts';
import { lockFreeThreads } from './prune-threads.ts';
import type { PrunedPart, PruneStrategy } from './types.ts';

/** Returns expired threads without a run in flight, longest expired first: an estimate without locks. */
export async function findExpiredThreads(db: pg.Pool, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'engine_find_expired_threads',
    text: `SELECT thread_id FROM thread WHERE expires_at <= now() AND status <> 'busy' ORDER BY expires_at LIMIT $1`,
    values: [limit],
  });
  return rows.map((row) => row.thread_id);
}

/** Returns for how many seconds the longest expired thread without a run in flight has been; 0 when none is. */
export async function readExpiryDelay(db: pg.Pool): Promise<number> {
  const { rows } = await db.query<{ seconds: number }>({
    name: 'engine_expiry_delay',
    text: `SELECT coalesce((SELECT extract(epoch FROM now() - expires_at)::float8 FROM thread
                            WHERE expires_at <= now() AND status <> 'busy' ORDER BY expires_at LIMIT 1), 0) AS seconds`,
  });
  return rows[0]?.seconds ?? 0;
}

/**
 * Applies the ttl of those threads that are expired and free, in the caller's transaction. A pruned thread has no
 * expiry until its state changes again.
 */
export async function expireThreads(
  client: pg.ClientBase,
  threadIds: string[],
  events: RunEvents,
): Promise<PrunedPart> {
  const free = await lockFreeThreads(client, threadIds);
  const { rows } = await client.query<{ thread_id: string; ttl_strategy: PruneStrategy }>({
    name: 'engine_still_expired_threads',
    text: 'SELECT thread_id, ttl_strategy FROM thread WHERE thread_id = ANY($1::uuid[]) AND expires_at <= now()',
    values: [free],
  });
  const idsOf = (strategy: PruneStrategy) =>
    rows.filter((row) => row.ttl_strategy === strategy).map((row) => row.thread_id);
  const { threads } = await deleteLockedThreads(client, idsOf('delete'), events);
  const prunedIds = idsOf('keep_latest');
  if (!(await keepLatest(client, prunedIds))) return { deleted: threads, prunedIds: [], remainingIds: prunedIds };
  if (prunedIds.length > 0) {
    await client.query({
      name: 'engine_disarm_threads',
      text: 'UPDATE thread SET expires_at = NULL WHERE thread_id = ANY($1::uuid[])',
      values: [prunedIds],
    });
  }
  return { deleted: threads, prunedIds, remainingIds: [] };
}
