import type pg from 'pg';

/** Returns the quoted schema in which pgvector is installed; null when the database does not have it. */
export async function vectorSchema(pool: pg.Pool): Promise<string | null> {
  const { rows } = await pool.query<{ schema: string }>(
    `SELECT quote_ident(n.nspname) AS schema FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
     WHERE e.extname = 'vector'`,
  );
  return rows[0]?.schema ?? null;
}

/** Installs pgvector into the database where the server has it; false where it does not, or this user may not. */
export async function installVectorExtension(pool: pg.Pool): Promise<boolean> {
  if (await vectorSchema(pool)) return true;
  const { rowCount } = await pool.query(`SELECT 1 FROM pg_available_extensions WHERE name = 'vector'`);
  if (rowCount === 0) return false;
  try {
    await pool.query('CREATE EXTENSION IF NOT EXISTS vector');
    return true;
  } catch {
    // Another process may have installed it first. Otherwise this user may not, and search compares without it.
    return (await vectorSchema(pool)) !== null;
  }
}
