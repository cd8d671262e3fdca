import type { ExhaustedSum, SummedBudget } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import type { Database } from '../database/database.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import type { Budget } from '../generated/client.ts';
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
   * Stores what is used up, and returns how much of it was new. What is known already, or is about a cap of before,
   * changes nothing.
   */
  async report(exhausted: readonly ExhaustedSum[]): Promise<number> {
    const ids = exhausted.map(({ budget_id: id }) => id.toLowerCase());
    const { concerned, taken } = await this.#database.transact(async (transaction) => {
      const rows = await transaction.budget.findMany({ where: { id: { in: ids }, deploymentId: null } });
      const budgets = new Map(rows.map((row) => [row.id, row]));
      const workspaces = new Set<string>();
      let taken = 0;
      for (const { budget_id, subject_id, start, measure, max } of exhausted) {
        const budget = budgets.get(budget_id.toLowerCase());
        if (!budget || capOf(budget, measure) !== BigInt(max)) continue;
        const key = { budgetId: budget.id, subjectId: toSqlText(subject_id) };
        const told = { start: new Date(start), measure };
        const known = await transaction.exhaustedBudget.findUnique({ where: { budgetId_subjectId: key } });
        if (known && known.start.getTime() === told.start.getTime() && known.measure === measure) continue;
        await transaction.exhaustedBudget.upsert({
          where: { budgetId_subjectId: key },
          create: { ...key, ...told },
          update: told,
        });
        workspaces.add(budget.workspaceId);
        taken += 1;
      }
      const where = { workspaceId: { in: [...workspaces] }, deleteRequestedAt: null };
      await transaction.deployment.updateMany({ where, data: { budgetsVersion: { increment: 1 } } });
      const select = { id: true, listenerId: true };
      return { concerned: await transaction.deployment.findMany({ where, select }), taken };
    });
    this.#rollouts.wakeAll(concerned);
    return taken;
  }
}

function capOf({ tokensMax, runsMax }: Budget, measure: ExhaustedSum['measure']): bigint | null {
  return measure === 'tokens' ? tokensMax : runsMax;
}
