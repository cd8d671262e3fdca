import { toSqlJson } from '@runyard/database';
import type pg from 'pg';
import type { UsageChanges } from '../usage/usage-changes.ts';

/** SQL for the cap that a use `u` of budget `b` has reached; null: none. Tokens stop runs under way too, and come first. */
const REACHED = `CASE WHEN u.tokens >= b.tokens_max THEN 'tokens' WHEN u.runs >= b.runs_max THEN 'runs' END`;

/** SQL for the cap that it had reached before `c` was added. */
const REACHED_BEFORE = `CASE WHEN u.tokens - c.tokens >= b.tokens_max THEN 'tokens'
  WHEN u.runs - c.runs >= b.runs_max THEN 'runs' END`;

/**
 * Adds what has changed to the budgets that it is counted on, and notes which are used up by that. Returns whether any
 * is. The caller's transaction excludes all others that write them.
 */
export async function countBudgets(client: pg.ClientBase, { rows }: UsageChanges): Promise<boolean> {
  const hours = rows.filter(({ step }) => step === 'hour');
  if (hours.length === 0) return false;
  const used = hours.map(({ deployment_id, start, creator, key_id, input_tokens, output_tokens, runs }) => ({
    ...{ deployment_id, start, creator, key_id, runs },
    tokens: input_tokens + output_tokens,
  }));
  const { rows: counted } = await client.query<Counted>({
    name: 'history_count_budgets',
    text: `WITH counted AS (
             SELECT b.budget_id, date_trunc(b.period, r.start, 'UTC') AS start, s.subject_id,
                    sum(r.tokens)::bigint AS tokens, sum(r.runs)::bigint AS runs
             FROM budget b JOIN deployment d USING (organization_id, workspace_id)
             JOIN jsonb_to_recordset($1::jsonb) AS r (deployment_id uuid, start timestamptz, creator text, key_id text,
               tokens bigint, runs bigint) USING (deployment_id)
             CROSS JOIN LATERAL (
               SELECT CASE b.subject WHEN 'workspace' THEN '' WHEN 'creator' THEN nullif(r.creator, '')
                                     WHEN 'key' THEN nullif(r.key_id, '') END AS subject_id
             ) s
             WHERE s.subject_id IS NOT NULL AND (b.subject_id IS NULL OR b.subject_id = s.subject_id)
             GROUP BY 1, 2, 3
           ), stored AS (
             INSERT INTO budget_use AS u (budget_id, start, subject_id, tokens, runs)
             SELECT budget_id, start, subject_id, tokens, runs FROM counted
             ON CONFLICT (budget_id, start, subject_id)
             DO UPDATE SET tokens = u.tokens + excluded.tokens, runs = u.runs + excluded.runs
           )
           SELECT budget_id, start, subject_id, tokens, runs FROM counted`,
    values: [toSqlJson(used)],
  });
  if (counted.length === 0) return false;
  const { rowCount } = await client.query({
    name: 'history_reach_budgets',
    text: `UPDATE budget_use u SET untold = ${REACHED}
           FROM budget b, jsonb_to_recordset($1::jsonb)
             AS c (budget_id uuid, start timestamptz, subject_id text, tokens bigint, runs bigint)
           WHERE b.budget_id = u.budget_id
             AND (u.budget_id, u.start, u.subject_id) = (c.budget_id, c.start, c.subject_id)
             AND ${REACHED} IS NOT NULL AND ${REACHED} IS DISTINCT FROM ${REACHED_BEFORE}`,
    values: [toSqlJson(counted)],
  });
  return (rowCount ?? 0) > 0;
}

/** The numbers that were added, as text. */
interface Counted {
  budget_id: string;
  start: Date;
  subject_id: string;
  tokens: string;
  runs: string;
}

/** Notes again what is used up of budgets whose caps have changed, in the present period. */
export async function recountBudgets(client: pg.ClientBase, budgetIds: readonly string[]): Promise<void> {
  await client.query(
    `UPDATE budget_use u SET untold = ${REACHED} FROM budget b
     WHERE b.budget_id = u.budget_id AND b.budget_id = ANY($1::uuid[])
       AND u.start = date_trunc(b.period, now(), 'UTC') AND u.untold IS DISTINCT FROM ${REACHED}`,
    [budgetIds],
  );
}
