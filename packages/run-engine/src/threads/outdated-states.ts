import type pg from 'pg';

/** A thread whose stored values are older than its newest checkpoint. */
export interface OutdatedState {
  threadId: string;
  metadata: Record<string, unknown>;
}

const BATCH = 20;

/**
 * Time after which a state update outside of a run counts as lost when its process died; longer than such a write
 * takes.
 */
export const STATE_WRITE_TIME = "interval '1 minute'";

/**
 * Returns threads whose values must be read again, with a graph that can do it. Threads found to be up to date are
 * forgotten. Busy threads are skipped: their runs write their state.
 */
export async function findOutdatedStates(db: pg.Pool): Promise<OutdatedState[]> {
  const { rows } = await db.query<{ thread_id: string; metadata: Record<string, unknown> }>({
    name: 'engine_find_outdated_states',
    text: `WITH due AS (
             SELECT b.thread_id, t.metadata,
                    coalesce(t.metadata ->> 'graph_id', '') <> '' AND
                    (SELECT max(c.checkpoint_id) FROM checkpoint c WHERE c.thread_id = b.thread_id AND c.checkpoint_ns = '')
                    IS DISTINCT FROM (SELECT s.checkpoint_id FROM thread_state s WHERE s.thread_id = b.thread_id) AS is_behind
             FROM thread_state_behind b JOIN thread t USING (thread_id)
             WHERE b.look_at <= now() AND t.status <> 'busy'
             ORDER BY b.look_at LIMIT ${BATCH}
           ), forgotten AS (
             DELETE FROM thread_state_behind b USING due
             WHERE b.thread_id = due.thread_id AND NOT due.is_behind AND b.look_at <= now()
           )
           SELECT thread_id, metadata FROM due WHERE is_behind`,
  });
  return rows.map(({ thread_id: threadId, metadata }) => ({ threadId, metadata }));
}
