import type pg from 'pg';

/** Rows of one statement: a short one holds nobody up. */
const CHUNK = 10_000;

/** Removes runs of a deployment in steps: all of them, or those older than `before`. */
export async function removeRuns(pool: pg.Pool, runs: { deploymentId: string; before?: string }): Promise<number> {
  let removed = 0;
  for (let count = CHUNK; count === CHUNK; removed += count) {
    const { rows } = await pool.query<{ count: number }>(
      `WITH old AS (
         SELECT run_id FROM run
         WHERE deployment_id = $1 AND run_id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') LIMIT ${CHUNK}
       ), removed AS (
         DELETE FROM run USING old WHERE run.run_id = old.run_id
       ), attempts AS (
         DELETE FROM run_attempt a USING old WHERE a.run_id = old.run_id
       )
       SELECT count(*)::int AS count FROM old`,
      [runs.deploymentId, runs.before ?? null],
    );
    count = rows[0]!.count;
  }
  return removed;
}
