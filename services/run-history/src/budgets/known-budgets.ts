import { type SummedBudget, SummedBudgets } from '@runyard/contracts';
import { withTransaction } from '@runyard/database';
import type { InternalClient } from '@runyard/service-kit';
import type pg from 'pg';
import { takeWriterLock } from '../writer-lock.ts';
import { recountBudgets } from './count-budgets.ts';

interface Dependencies {
  pool: pg.Pool;
  controlPlane: Pick<InternalClient, 'ask'>;
}

/** Takes over the budgets that control-plane has, and removes what others have counted. @throws Error when it is away */
export async function refreshBudgets({ pool, controlPlane }: Dependencies): Promise<void> {
  const { budgets } = await controlPlane.ask('/internal/budgets', null, SummedBudgets);
  await withTransaction(pool, async (client) => {
    await takeWriterLock(client);
    await client.query('DELETE FROM budget WHERE budget_id <> ALL($1::uuid[])', [budgets.map(({ id }) => id)]);
    const { rows } = await client.query<{ budget_id: string }>(UPSERT, [
      JSON.stringify(budgets satisfies SummedBudget[]),
    ]);
    await recountBudgets(
      client,
      rows.map((row) => row.budget_id),
    );
  });
}

/** Returns the ids of those that are new or have other caps. */
const UPSERT = `
  WITH desired AS (
    SELECT * FROM jsonb_to_recordset($1::jsonb) AS d (id uuid, organization_id uuid, workspace_id uuid, name text,
      subject text, subject_id text, period text, tokens_max bigint, runs_max bigint, mode text)
  ), recapped AS (
    SELECT d.id FROM desired d LEFT JOIN budget b ON b.budget_id = d.id
    WHERE (b.tokens_max, b.runs_max) IS DISTINCT FROM (d.tokens_max, d.runs_max)
  ), stored AS (
    INSERT INTO budget (budget_id, organization_id, workspace_id, name, subject, subject_id, period, tokens_max, runs_max,
      is_enforced)
    SELECT id, organization_id, workspace_id, name, subject, subject_id, period, tokens_max, runs_max, mode = 'enforced'
    FROM desired
    ON CONFLICT (budget_id) DO UPDATE
    SET name = excluded.name, tokens_max = excluded.tokens_max, runs_max = excluded.runs_max,
        is_enforced = excluded.is_enforced
  )
  SELECT id AS budget_id FROM recapped`;
