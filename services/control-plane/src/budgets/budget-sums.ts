import type { ExhaustedSum, SummedBudget } from '@runyard/contracts';
import { toSqlJson } from '@runyard/database';
import type { Database } from '../database/database.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import type { Prisma } from '../generated/client.ts';
import { toTerms } from '../revisions/budgets/budget-store.ts';

/** Subjects whose use in several deployments is summed up. */
const SUMMED = ['workspace', 'creator', 'key'];

/** Tells deployments which budgets of their workspace they have used up together. */
export class BudgetSums {
  readonly #database: Database;
  readonly #rollouts: Pick<RolloutSignals, 'wakeAll'>;

  constructor({ database, rollouts }: { database: Database; rollouts: Pick<RolloutSignals, 'wakeAll'> }) {
    this.#database = database;
    this.#rollouts = rollouts;
  }

  async list(): Promise<SummedBudget[]> {
    const rows = await this.#database.prisma.budget.findMany({
      where: { deploymentId: null, subject: { in: SUMMED } },
      orderBy: { id: 'asc' },
    });
    return rows.map((row) => ({
      ...toTerms(row),
      organization_id: row.organizationId,
      workspace_id: row.workspaceId,
    }));
  }

  /**
   * Stores what is used up, and returns how much of it was new. What is known already, is about a period of before, or
   * about a cap of before, changes nothing.
   */
  async report(exhausted: readonly ExhaustedSum[]): Promise<number> {
    const { concerned, taken } = await this.#database.transact(async (transaction) => {
      const rows = await store(transaction, exhausted);
      const workspaceIds = [...new Set(rows.map((row) => row.workspace_id))];
      const where = { workspaceId: { in: workspaceIds }, deleteRequestedAt: null };
      await transaction.deployment.updateMany({ where, data: { budgetsVersion: { increment: 1 } } });
      const select = { id: true, listenerId: true };
      return { concerned: await transaction.deployment.findMany({ where, select }), taken: rows.length };
    });
    this.#rollouts.wakeAll(concerned);
    return taken;
  }
}

/** Returns the workspace of each entry that was new. */
function store(
  transaction: Prisma.TransactionClient,
  exhausted: readonly ExhaustedSum[],
): Promise<{ workspace_id: string }[]> {
  return transaction.$queryRaw`
    WITH told AS (
      SELECT DISTINCT ON (budget_id, subject_id) *
      FROM jsonb_to_recordset(${toSqlJson(exhausted)}::jsonb)
        AS t (budget_id uuid, subject_id text, start timestamptz, measure text, max bigint)
      ORDER BY budget_id, subject_id, start DESC, measure DESC
    ), taken AS (
      INSERT INTO exhausted_budget AS e (budget_id, subject_id, start, measure)
      SELECT t.budget_id, t.subject_id, t.start, t.measure FROM told t JOIN budget b ON b.id = t.budget_id
      WHERE b.deployment_id IS NULL AND t.max = CASE t.measure WHEN 'tokens' THEN b.tokens_max ELSE b.runs_max END
      ON CONFLICT (budget_id, subject_id) DO UPDATE SET start = excluded.start, measure = excluded.measure
      WHERE e.start <= excluded.start AND (e.start, e.measure) IS DISTINCT FROM (excluded.start, excluded.measure)
      RETURNING budget_id
    )
    SELECT b.workspace_id FROM taken JOIN budget b ON b.id = taken.budget_id`;
}
