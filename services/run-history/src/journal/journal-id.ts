import type pg from 'pg';

/**
 * Returns the identity of the journal. Its consumer group bears it: a journal that begins anew, because its database was
 * lost, reads everything that the bus still has.
 */
export async function readJournalId(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM journal');
  return rows[0]!.id;
}
