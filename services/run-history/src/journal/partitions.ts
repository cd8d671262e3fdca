import type pg from 'pg';
import { lowestIdAt } from '../runs/run-id-time.ts';

const DAY_MS = 86_400_000;

/** Tables of which each day has partitions. */
const TABLES = ['run', 'run_attempt'] as const;

/** The number of a day (UTC) since 1970. */
export type Day = number;

export function dayOf(time: number): Day {
  return Math.floor(time / DAY_MS);
}

/**
 * Waits until no other transaction writes the journal. A run is read, changed and written, numbers that all runs share
 * are added to, and partitions come and go: one writer at a time makes all of that simple, and is fast enough, since
 * each writes hundreds of events.
 */
export async function takeWriterLock(client: pg.ClientBase): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('journal', 0))`);
}

/** Creates partitions of days, under the lock of the writer. */
export async function createPartitions(client: pg.ClientBase, days: Iterable<Day>): Promise<void> {
  for (const day of days) {
    const bounds = `FROM ('${lowestIdAt(day * DAY_MS)}') TO ('${lowestIdAt((day + 1) * DAY_MS)}')`;
    for (const table of TABLES) {
      await client.query(
        `CREATE TABLE IF NOT EXISTS ${partitionOf(table, day)} PARTITION OF ${table} FOR VALUES ${bounds}`,
      );
    }
  }
}

/** Returns the days that have partitions. */
export async function listPartitions(client: pg.ClientBase): Promise<Day[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'run'::regclass`,
  );
  return rows.map(({ name }) => dayOf(Date.parse(name.slice(-10).replaceAll('_', '-'))));
}

/** Drops the partitions of a day, with all its runs, under the lock of the writer. */
export async function dropPartitions(client: pg.ClientBase, day: Day): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS ${TABLES.map((table) => partitionOf(table, day)).join(', ')}`);
}

/** Returns `run_2026_12_01`. */
function partitionOf(table: string, day: Day): string {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  return `${table}_${date.replaceAll('-', '_')}`;
}
