import type pg from 'pg';

/**
 * Waits until no other transaction writes the journal. A run is read, changed and written, numbers that all runs share
 * are added to, and partitions come and go: one writer at a time makes all of that simple, and is fast enough, since
 * each writes hundreds of events.
 */
export async function takeWriterLock(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('journal', 0))`);
}
