import type pg from 'pg';
import { DAY_MS } from '../runs/retention-time.ts';
import { lowestIdAt } from '../runs/run-id-time.ts';

const WEEK_MS = 7 * DAY_MS;

/** Tables of which each week has partitions. */
const TABLES = ['run', 'run_attempt', 'run_usage'] as const;

/** The number of a week since 1970, from Thursday on. */
export type Week = number;

export function weekOf(time: number): Week {
  return Math.floor(time / WEEK_MS);
}

/** Creates the partitions of weeks that are missing, under the lock of the writer. */
export async function createPartitions(client: pg.ClientBase, weeks: ReadonlySet<Week>): Promise<void> {
  const wanted = [...weeks].flatMap((week) => TABLES.map((table) => ({ week, table, name: partitionOf(table, week) })));
  const { rows: missing } = await client.query<{ name: string }>({
    name: 'history_missing_partitions',
    text: 'SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL',
    values: [wanted.map(({ name }) => name)],
  });
  const names = new Set(missing.map(({ name }) => name));
  for (const { week, table, name } of wanted.filter((each) => names.has(each.name))) {
    const bounds = `FROM ('${lowestIdAt(week * WEEK_MS)}') TO ('${lowestIdAt((week + 1) * WEEK_MS)}')`;
    await client.query(`CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES ${bounds}`);
  }
}

/** Returns the weeks that have partitions. */
export async function listPartitions(client: pg.Pool | pg.ClientBase): Promise<Week[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'run'::regclass`,
  );
  return rows.map(({ name }) => weekOf(Date.parse(name.slice(-10).replaceAll('_', '-'))));
}

/** Drops the partitions of a week, with all its runs, under the lock of the writer. */
export async function dropPartitions(client: pg.ClientBase, week: Week): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS ${TABLES.map((table) => partitionOf(table, week)).join(', ')}`);
}

/** Returns `run_2026_11_26`, of its first day. */
function partitionOf(table: string, week: Week): string {
  const date = new Date(week * WEEK_MS).toISOString().slice(0, 10);
  return `${table}_${date.replaceAll('-', '_')}`;
}
