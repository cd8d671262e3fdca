import type pg from 'pg';

/** Rows of one statement: a short one holds nobody up. */
const STEP = 1_000;

/** Deletes what budgets counted in earlier periods, and on which budgets runs were counted that have ended. */
export async function sweepBudgets(db: pg.Pool): Promise<void> {
  await db.query({
    name: 'engine_sweep_budget_use',
    text: `DELETE FROM budget_use u USING (
             SELECT old.* FROM budget b CROSS JOIN LATERAL (
               SELECT o.budget_id, o.start, o.subject_id FROM budget_use o
               WHERE o.budget_id = b.budget_id AND o.start < date_trunc(b.period, now(), 'UTC')
               LIMIT ${STEP}
             ) old
           ) o WHERE (u.budget_id, u.start, u.subject_id) = (o.budget_id, o.start, o.subject_id)`,
  });
  await db.query({
    name: 'engine_sweep_run_budgets',
    text: `DELETE FROM run_budget m USING (
             SELECT e.run_id FROM run_budget e
             WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.run_id = e.run_id AND r.status IN ('pending', 'running'))
             LIMIT ${STEP}
           ) ended WHERE m.run_id = ended.run_id`,
  });
}
