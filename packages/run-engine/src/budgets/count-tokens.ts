import type pg from 'pg';
import { PERIOD_START, TERMS, type TermsRow } from './period.ts';
import type { ExhaustedBudget } from './types.ts';

/** The tokens that a run has used since they were last counted. */
export interface UsedTokens {
  runId: string;
  tokens: number;
}

type CountedRow = TermsRow & {
  run_id: string;
  subject_id: string;
  counted: number;
  added: number;
  /** The cap that several deployments have reached together. */
  exhausted: ExhaustedBudget['measure'] | null;
};

/**
 * Adds the tokens of runs to the budgets that they are counted on. Returns the one in force that each of them has to
 * stop for, and those that were used up by this.
 */
export async function countTokens(
  client: pg.ClientBase,
  used: readonly UsedTokens[],
): Promise<{ stops: Map<string, ExhaustedBudget>; reached: ExhaustedBudget[] }> {
  const stops = new Map<string, ExhaustedBudget>();
  const reached = new Map<string, ExhaustedBudget>();
  if (used.length === 0) return { stops, reached: [] };
  const { rows } = await client.query<CountedRow>({
    name: 'engine_count_tokens',
    text: `WITH used AS (
             SELECT i.run_id, m.subject_id, i.tokens, ${PERIOD_START} AS start, ${TERMS}
             FROM unnest($1::uuid[], $2::bigint[]) AS i (run_id, tokens)
             JOIN run_budget m USING (run_id) JOIN budget b USING (budget_id)
           ), added AS (
             SELECT budget_id, start, subject_id, sum(tokens) AS tokens FROM used GROUP BY 1, 2, 3
           ), counted AS (
             INSERT INTO budget_use AS u (budget_id, start, subject_id, tokens)
             SELECT budget_id, start, subject_id, tokens FROM added ORDER BY 1, 2, 3
             ON CONFLICT (budget_id, start, subject_id) DO UPDATE SET tokens = u.tokens + excluded.tokens
             RETURNING budget_id, start, subject_id, tokens, exhausted
           )
           SELECT used.*, counted.tokens::float8 AS counted, counted.exhausted, added.tokens::float8 AS added
           FROM used JOIN counted USING (budget_id, start, subject_id) JOIN added USING (budget_id, start, subject_id)
           ORDER BY used.budget_id`,
    values: [used.map(({ runId }) => runId), used.map(({ tokens }) => tokens)],
  });
  for (const row of rows) {
    if (row.tokens_max === null || (row.counted < row.tokens_max && row.exhausted !== 'tokens')) continue;
    const budget = exhausted(row, 'tokens', row.tokens_max);
    if (row.is_enforced && !stops.has(row.run_id)) stops.set(row.run_id, budget);
    if (row.counted >= row.tokens_max && row.counted - row.added < row.tokens_max)
      reached.set(`${row.budget_id} ${row.subject_id}`, budget);
  }
  return { stops, reached: [...reached.values()] };
}

/** Returns what is told of a budget that has nothing left. */
export function exhausted(
  row: TermsRow & { subject_id: string },
  measure: ExhaustedBudget['measure'],
  max: number,
): ExhaustedBudget {
  return {
    budgetId: row.budget_id,
    name: row.name,
    period: row.period,
    measure,
    max,
    isEnforced: row.is_enforced,
    until: row.until,
    subjectId: row.subject_id,
    refusalStatus: row.refusal_status,
  };
}
