import { repeatDeadlocks } from '@runyard/database';
import type pg from 'pg';

/** Rows of one statement: a short one holds nobody up. */
const STEP = 10_000;

/** The tables of what deployments have. */
export const DEPLOYMENT_TABLES = ['run', 'run_statistic', 'run_latency', 'usage'] as const;
type DeploymentTable = (typeof DEPLOYMENT_TABLES)[number];

/** Deletes the rows of a table for which a condition is true, in many short statements. Returns their number. */
export async function deleteInSteps(
  pool: pg.Pool,
  table: DeploymentTable,
  { condition, values }: { condition: string; values: unknown[] },
): Promise<number> {
  let deleted = 0;
  for (let count = STEP; count === STEP; deleted += count) {
    count = await repeatDeadlocks(3, () => deleteSome(pool, table, { condition, values }));
  }
  return deleted;
}

async function deleteSome(
  pool: pg.Pool,
  table: DeploymentTable,
  { condition, values }: { condition: string; values: unknown[] },
): Promise<number> {
  const isOfRuns = table === 'run';
  const key = isOfRuns ? 'run_id' : 'ctid';
  const ofRuns = (name: string) => `, ${name}s AS (DELETE FROM ${name} WHERE run_id IN (SELECT run_id FROM gone))`;
  const { rows } = await pool.query<{ count: number }>(
    `WITH gone AS (
       DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE ${condition} LIMIT ${STEP})
       RETURNING ${isOfRuns ? 'run_id' : '1'}
     ) ${isOfRuns ? ofRuns('run_attempt') + ofRuns('run_usage') : ''}
     SELECT count(*)::int AS count FROM gone`,
    values,
  );
  return rows[0]!.count;
}
