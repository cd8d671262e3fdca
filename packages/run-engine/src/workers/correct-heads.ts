import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { lockFences, lockUnheldThreads } from '../locks.ts';
import { CLAIM_FLOOR } from '../queue/queue-floors.ts';
import { nextReadyAt, refreshHeads } from '../queue/thread-heads.ts';

/** Number of threads at the front of the queue that are compared at once. */
const BATCH = 200;

/**
 * Corrects heads that are in the past although their thread has no run to claim, at the front of the queue, where every
 * claim meets them. Processes of the previous release leave them behind when they end or cancel runs.
 */
export async function correctHeads(db: pg.Pool, write: EngineWrites['write']): Promise<void> {
  for (;;) {
    const early = await findEarlyHeads(db);
    if (early.length === 0) return;
    const corrected = await write(async (client) => {
      // Under the lock of its thread no run is added to it.
      const { held } = await lockUnheldThreads(client, early);
      const threadIds = early.filter((threadId) => !held.has(threadId));
      await lockFences(client, threadIds);
      await refreshHeads(client, threadIds);
      return threadIds.length;
    });
    if (corrected < BATCH) return;
  }
}

/** An estimate without locks. */
async function findEarlyHeads(db: pg.Pool): Promise<string[]> {
  const { rows } = await db.query<{ thread_id: string }>({
    name: 'engine_early_heads',
    text: `WITH front AS MATERIALIZED (
             SELECT f.thread_id FROM thread_fence f WHERE f.run_id IS NULL AND f.head_ready_at <= now()
               AND f.head_ready_at >= coalesce(${CLAIM_FLOOR}, '-infinity')
             ORDER BY f.head_ready_at LIMIT ${BATCH}
           )
           SELECT thread_id FROM front WHERE coalesce(${nextReadyAt('front.thread_id')} > now(), true)`,
  });
  return rows.map((row) => row.thread_id);
}
