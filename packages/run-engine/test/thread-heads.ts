import type { EngineFixture } from './engine-fixture.ts';

/**
 * Returns what is wrong with `head_ready_at` of free threads. It is never later than the time at which the next run of
 * the thread may start, or than now if that has passed; and without waiting runs it is NULL.
 */
export function findWrongHeads(fixture: EngineFixture): Promise<Record<string, unknown>[]> {
  return fixture.rows(
    `SELECT f.thread_id, f.head_ready_at, w.begun_at, w.next_at FROM thread_fence f, LATERAL (
       SELECT min(ready_at) FILTER (WHERE attempt > 0) AS begun_at, min(ready_at) AS next_at
       FROM run WHERE thread_id = f.thread_id AND status = 'pending') w
     WHERE f.run_id IS NULL AND (f.head_ready_at IS NULL) <> (w.next_at IS NULL)
        OR f.run_id IS NULL AND f.head_ready_at > greatest(coalesce(w.begun_at, w.next_at), now())`,
  );
}
