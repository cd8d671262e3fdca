import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import {
  CHANGING_COLUMNS,
  RUN_COLUMNS,
  RUN_RECORD,
  SELECT_RUN,
  type StoredAttempt,
  type StoredRun,
} from '../runs/stored-run.ts';

/** Returns those of the runs that the journal has, by their ids. */
export async function readRuns(client: pg.ClientBase, runIds: string[]): Promise<Map<string, StoredRun>> {
  const { rows } = await client.query<StoredRun>({
    name: 'history_read_runs',
    text: `SELECT ${SELECT_RUN} FROM run WHERE run_id = ANY($1::uuid[])`,
    values: [runIds],
  });
  return new Map(rows.map((row) => [row.run_id, row]));
}

export async function writeRuns(client: pg.ClientBase, runs: StoredRun[]): Promise<void> {
  await client.query({
    name: 'history_write_runs',
    text: `INSERT INTO run (${RUN_COLUMNS}) SELECT ${RUN_COLUMNS} FROM jsonb_to_recordset($1::jsonb) AS r (${RUN_RECORD})
           ON CONFLICT (run_id) DO UPDATE SET ${CHANGING_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    values: [toSqlJson(runs)],
  });
}

/** Adds what is known of attempts; what is known already stays. */
export async function writeAttempts(client: pg.ClientBase, attempts: StoredAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await client.query({
    name: 'history_write_attempts',
    text: `INSERT INTO run_attempt AS a (run_id, attempt, started_at, ended_at, outcome)
           SELECT run_id, attempt, min(started_at), min(ended_at), min(outcome)
           FROM jsonb_to_recordset($1::jsonb) AS r
             (run_id uuid, attempt integer, started_at timestamptz, ended_at timestamptz, outcome text)
           GROUP BY run_id, attempt
           ON CONFLICT (run_id, attempt) DO UPDATE
           SET started_at = coalesce(a.started_at, excluded.started_at), ended_at = coalesce(a.ended_at, excluded.ended_at),
               outcome = coalesce(a.outcome, excluded.outcome)`,
    values: [toSqlJson(attempts)],
  });
}
