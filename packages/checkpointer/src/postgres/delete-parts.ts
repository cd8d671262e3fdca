import { HELD_FENCES } from './held-fences.ts';

/** Rows of the first part. One value may have many megabytes. */
const FIRST_ROWS = 16;
/**
 * Milliseconds of one part. A transaction that removes rows holds the thread's fence, and a takeover of the thread
 * waits for it.
 */
const PART_MS = 125;

/** The number of rows that each part removes: twice as many as before, or half as many when the last part took long. */
export class PartSize {
  rowsMax = FIRST_ROWS;

  /** @param ms duration of the last part */
  adjust(ms: number): void {
    this.rowsMax = ms < PART_MS ? this.rowsMax * 2 : Math.max(FIRST_ROWS, Math.floor(this.rowsMax / 2));
  }
}

const removePart = (table: string, from: string, order = '') => `
    DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
      SELECT r.ctid FROM ${from} p CROSS JOIN LATERAL (
        SELECT ctid FROM ${table} t WHERE t.thread_id = p.thread_id ${order} LIMIT p.rows_max) r))
    RETURNING thread_id`;

const isFull = (removed: string) => `(SELECT count(*) FROM ${removed} r WHERE r.thread_id = p.thread_id) >= p.rows_max`;

/**
 * Removes a part of each thread, and returns which fences are held and which threads may have more rows. Parameters:
 * the fences of `FlushRows`; $4 the row limit per table for each fence. The oldest checkpoints are deleted first, so
 * that the newest state exists until the end. The rows that checkpoints refer to are deleted after the last checkpoint,
 * so that nobody reads one without its values.
 */
export const DELETE_PARTS = {
  name: 'checkpoint_delete_parts',
  text: `
  WITH ${HELD_FENCES},
  parts AS MATERIALIZED (
    SELECT h.position, h.thread_id, m.rows_max
    FROM held h JOIN unnest($4::int[]) WITH ORDINALITY AS m(rows_max, position) USING (position)
  ),
  checkpoints AS (${removePart('checkpoint', 'parts', 'ORDER BY t.checkpoint_id')}),
  bare AS MATERIALIZED (SELECT * FROM parts p WHERE NOT ${isFull('checkpoints')}),
  writes AS (${removePart('checkpoint_write', 'bare')}),
  replaced AS (${removePart('checkpoint_write_replaced', 'bare')}),
  blobs AS (${removePart('checkpoint_blob', 'bare')})
  SELECT p.position::int, ${['checkpoints', 'writes', 'replaced', 'blobs'].map(isFull).join(' OR ')} AS "hasMore"
  FROM parts p`,
};
