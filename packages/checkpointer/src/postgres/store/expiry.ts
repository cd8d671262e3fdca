import type pg from 'pg';
import type { ItemRow } from './live-items.ts';
import { textArray } from './text-array.ts';

/** An item that is read many times a second is written less often: every few seconds, or every tenth of a short ttl. */
const REFRESHED_AT_MOST_EVERY = 'least(1, i.ttl_minutes * 6)';

const REFRESH = {
  name: 'store_refresh',
  text: `
    WITH held AS (
      SELECT i.namespace, i.key FROM unnest($1::text[], $2::text[]) AS k(namespace, key)
      JOIN store_item i ON i.namespace = k.namespace::text[] AND i.key = k.key
      WHERE i.expires_at > now()
        AND i.expires_at < now() + make_interval(secs => i.ttl_minutes * 60 - ${REFRESHED_AT_MOST_EVERY})
      FOR UPDATE OF i SKIP LOCKED
    )
    UPDATE store_item i SET expires_at = now() + make_interval(secs => i.ttl_minutes * 60)
    FROM held WHERE i.namespace = held.namespace AND i.key = held.key`,
};

const DELETE_EXPIRED = {
  name: 'store_delete_expired',
  text: `
    DELETE FROM store_item WHERE (namespace, key) IN (
      SELECT namespace, key FROM store_item WHERE expires_at <= now() ORDER BY expires_at LIMIT $1
      FOR UPDATE SKIP LOCKED
    )`,
};

/**
 * Restarts the ttl of items that were read. It needs no fence: it only says that somebody has read them. An item that
 * is being written is left to its writer.
 */
export async function refreshItems(pool: pg.Pool, rows: ItemRow[]): Promise<void> {
  const expiring = rows.filter((row) => row.ttl_minutes !== null);
  if (expiring.length === 0) return;
  await pool.query({
    ...REFRESH,
    values: [expiring.map(({ namespace }) => textArray(namespace)), expiring.map(({ key }) => key)],
  });
}

/** Deletes expired items, longest expired first, and returns how many. */
export async function deleteExpired(pool: pg.Pool, limit: number): Promise<number> {
  const { rowCount } = await pool.query({ ...DELETE_EXPIRED, values: [limit] });
  return rowCount ?? 0;
}
