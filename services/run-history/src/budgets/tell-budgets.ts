import { EXHAUSTED_MAX, type ExhaustedSum, ExhaustedSumsTaken } from '@runyard/contracts';
import type { InternalClient, Logger } from '@runyard/service-kit';
import type pg from 'pg';

interface Dependencies {
  pool: pg.Pool;
  controlPlane: Pick<InternalClient, 'ask'>;
  logger: Logger;
}

type UntoldRow = Omit<ExhaustedSum, 'start' | 'max'> & {
  start: Date;
  max: number;
  name: string;
  is_enforced: boolean;
};

/**
 * Tells control-plane which budgets several deployments have used up together. What it has not taken is told again.
 *
 * @throws Error when it is away
 */
export async function tellBudgets({ pool, controlPlane, logger }: Dependencies): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<UntoldRow>({
      name: 'history_untold_budgets',
      text: `SELECT u.budget_id, u.start, u.subject_id, u.untold AS measure, b.name, b.is_enforced,
                    CASE u.untold WHEN 'tokens' THEN b.tokens_max ELSE b.runs_max END::float8 AS max
             FROM budget_use u JOIN budget b USING (budget_id)
             WHERE u.untold IS NOT NULL ORDER BY u.budget_id LIMIT ${EXHAUSTED_MAX}`,
    });
    if (rows.length === 0) return;
    const exhausted = rows.map(({ name: _, is_enforced: __, start, ...row }) => ({
      ...row,
      start: start.toISOString(),
    }));
    await controlPlane.ask('/internal/budgets/exhausted', { exhausted }, ExhaustedSumsTaken);
    for (const { name, is_enforced: isEnforced, ...row } of rows)
      logger.warn(isEnforced ? 'budget used up' : 'budget used up, but not enforced', { name, ...row });
    // More may have been used up meanwhile: that stays to be told.
    await pool.query(
      `UPDATE budget_use u SET untold = NULL
       FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[]) AS t (budget_id, start, subject_id, measure)
       WHERE (u.budget_id, u.start, u.subject_id, u.untold) = (t.budget_id, t.start, t.subject_id, t.measure)`,
      [
        rows.map((row) => row.budget_id),
        rows.map((row) => row.start),
        rows.map((row) => row.subject_id),
        rows.map((row) => row.measure),
      ],
    );
  }
}
