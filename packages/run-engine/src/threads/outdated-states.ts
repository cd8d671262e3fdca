import { withoutBeforeRows } from '@runyard/database';
import type { DataCipher, EncryptionScope } from '@runyard/encryption';
import type pg from 'pg';

/** A thread whose stored values are older than its newest checkpoint. */
export interface OutdatedState {
  threadId: string;
  metadata: Record<string, unknown>;
  /**
   * Returns the scope in which its new values are encrypted, that of the thread's last run, or of the old values.
   * Default: none.
   *
   * @throws EncryptionUnavailableError, and what the database throws
   */
  openScope?(): EncryptionScope | Promise<EncryptionScope>;
}

const BATCH = 20;
/** Bytes at the beginning of an encrypted value that say how it is encrypted. */
const HEADER_BYTES_MAX = 32;

/**
 * Time after which a state update outside of a run counts as lost when its process died; longer than such a write
 * takes.
 */
export const STATE_WRITE_TIME = "interval '1 minute'";

/**
 * Returns threads whose values must be read again, with a graph that can do it. Threads found to be up to date are
 * forgotten. Busy threads are skipped: their runs write their state.
 */
export async function findOutdatedStates(db: pg.Pool, cipher: DataCipher): Promise<OutdatedState[]> {
  const statement = withoutBeforeRows({
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
           SELECT thread_id, metadata, coalesce(
                    (SELECT substring(r.kwargs FROM 1 FOR ${HEADER_BYTES_MAX}) FROM run r
                     WHERE r.thread_id = due.thread_id AND r.keeps_thread ORDER BY r.seq DESC LIMIT 1),
                    (SELECT substring(s.values FROM 1 FOR ${HEADER_BYTES_MAX}) FROM thread_state s
                     WHERE s.thread_id = due.thread_id)) AS encrypted
           FROM due WHERE is_behind`,
  });
  const { rows } = await db.query<OutdatedRow>(statement);
  return rows.map(({ thread_id: threadId, metadata, encrypted }) => ({
    threadId,
    metadata,
    openScope: () => cipher.scopeOf(encrypted ?? Buffer.of()),
  }));
}

interface OutdatedRow {
  thread_id: string;
  metadata: Record<string, unknown>;
  encrypted: Buffer | null;
}
