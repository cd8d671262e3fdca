import type pg from 'pg';

/** The tables that every run reads or writes. */
const TABLES = ['run', 'thread', 'thread_fence', 'thread_state', 'checkpoint', 'checkpoint_blob', 'checkpoint_write'];

/**
 * Analyzes tables that have changed by more than their whole size since the last time. A prepared statement keeps the
 * plan from when the table was small, a sequential scan, until the table's statistics change. On a fresh database,
 * autovacuum does that a minute and tens of thousands of runs later.
 */
export async function refreshTableStatistics(db: pg.Pool): Promise<void> {
  const { rows } = await db.query<{ name: string }>({
    name: 'engine_outgrown_tables',
    text: `SELECT quote_ident(s.relname) AS name
           FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
           WHERE s.schemaname = current_schema() AND s.relname = ANY($1::text[])
             AND s.n_mod_since_analyze > 300 + greatest(c.reltuples, 0)`,
    values: [TABLES],
  });
  for (const { name } of rows) await db.query(`ANALYZE ${name}`);
}
