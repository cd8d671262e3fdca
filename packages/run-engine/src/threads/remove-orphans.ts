import { withTransaction } from '@runyard/database';
import type pg from 'pg';

/** The progress of a walk over all thread ids: ids after this one are next. */
export interface OrphanSlice {
  afterThreadId: string;
  /** Distinct thread ids looked at in one slice. */
  size: number;
  /** Rows that the previous slice removed. */
  removed: number;
}

export const FIRST_SLICE: OrphanSlice = {
  afterThreadId: '00000000-0000-0000-0000-000000000000',
  size: 2_000,
  removed: 0,
};

/** The tables with thread ids and no foreign key; each is walked by the index that begins with the id. */
const TABLES = ['thread_fence', 'checkpoint', 'checkpoint_blob', 'checkpoint_write'] as const;

/**
 * Selects unused thread ids. An id is in use while it has a thread, or a run: one whose thread is not kept, or an ended
 * one whose result can still be read. A fence younger than an hour (epochs are milliseconds) may belong to a run that
 * is being accepted.
 */
const UNUSED = `NOT EXISTS (SELECT 1 FROM thread t WHERE t.thread_id = o.thread_id)
  AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = o.thread_id)
  AND NOT EXISTS (SELECT 1 FROM thread_fence f WHERE f.thread_id = o.thread_id
                  AND f.epoch > (extract(epoch FROM clock_timestamp() - interval '1 hour') * 1000)::bigint)`;

/**
 * Removes rows of deleted threads. Deleting a thread removes all of them, so there is nothing to find unless an
 * operation was cut off or rows were removed by hand. It is safe beside everything else: an unused id stays unused,
 * because every thread gets a new one, and a fence row locked here refuses a late writer.
 */
export async function removeOrphanRows(pool: pg.Pool, { afterThreadId, size }: OrphanSlice): Promise<OrphanSlice> {
  let removed = 0;
  let reached: string | undefined;
  for (const table of TABLES) {
    const { ids, last } = await unusedIds(pool, table, afterThreadId, size);
    // The walk continues from the table that is behind the others.
    if (last !== undefined && (reached === undefined || last < reached)) reached = last;
    if (ids.length > 0) removed += await removeRows(pool, ids);
  }
  return { afterThreadId: reached ?? FIRST_SLICE.afterThreadId, size, removed };
}

/** Returns unused ids of a table; `last` is set when the table continues after this slice. */
async function unusedIds(
  pool: pg.Pool,
  table: (typeof TABLES)[number],
  afterThreadId: string,
  size: number,
): Promise<{ ids: string[]; last: string | undefined }> {
  const { rows } = await pool.query<{ seen: string; last: string | null; ids: string[] | null }>({
    name: `engine_orphans_${table}`,
    // The query jumps from id to id along the index, however many rows each has.
    text: `WITH RECURSIVE o AS (
             (SELECT thread_id, 1 AS n FROM ${table} WHERE thread_id > $1 ORDER BY thread_id LIMIT 1)
             UNION ALL
             SELECT next.thread_id, o.n + 1 FROM o CROSS JOIN LATERAL (
               SELECT thread_id FROM ${table} WHERE thread_id > o.thread_id ORDER BY thread_id LIMIT 1) next
             WHERE o.n < $2
           )
           SELECT count(*) AS seen, max(thread_id::text) AS last,
                  array_agg(thread_id) FILTER (WHERE ${UNUSED}) AS ids FROM o`,
    values: [afterThreadId, size],
  });
  const [row] = rows;
  return { ids: row?.ids ?? [], last: Number(row?.seen) === size ? (row?.last ?? undefined) : undefined };
}

async function removeRows(pool: pg.Pool, threadIds: string[]): Promise<number> {
  return withTransaction(
    pool,
    async (client) => {
      await client.query('SELECT 1 FROM thread_fence WHERE thread_id = ANY($1::uuid[]) ORDER BY thread_id FOR UPDATE', [
        threadIds,
      ]);
      const { rows } = await client.query<{ removed: string }>(
        `WITH o AS (SELECT o.thread_id FROM unnest($1::uuid[]) AS o (thread_id) WHERE ${UNUSED}),
              fences AS (DELETE FROM thread_fence x USING o WHERE x.thread_id = o.thread_id RETURNING 1),
              writes AS (DELETE FROM checkpoint_write x USING o WHERE x.thread_id = o.thread_id RETURNING 1),
              blobs AS (DELETE FROM checkpoint_blob x USING o WHERE x.thread_id = o.thread_id RETURNING 1),
              checkpoints AS (DELETE FROM checkpoint x USING o WHERE x.thread_id = o.thread_id RETURNING 1)
         SELECT count(*) AS removed FROM (SELECT * FROM fences UNION ALL SELECT * FROM writes
                                          UNION ALL SELECT * FROM blobs UNION ALL SELECT * FROM checkpoints) AS gone`,
        [threadIds],
      );
      return Number(rows[0]?.removed ?? 0);
    },
    { attempts: 5 },
  );
}
