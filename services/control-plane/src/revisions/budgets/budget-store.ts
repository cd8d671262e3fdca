import type { BudgetsReport, BudgetTerms } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';
import type { Budget, Prisma } from '../../generated/client.ts';

/** Stores budgets for the data planes, and how far their deployments are with them. */
export const budgetStore = {
  /** Returns what is to be capped, by deployment, in one query. */
  async termsOf(queries: Queries, deployments: readonly { id: string }[]): Promise<Map<string, BudgetTerms[]>> {
    const rows = await queries.budget.findMany({
      where: { deploymentId: { in: deployments.map(({ id }) => id) } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    const byDeployment = new Map<string, BudgetTerms[]>();
    for (const row of rows)
      byDeployment.set(row.deploymentId, [...(byDeployment.get(row.deploymentId) ?? []), toTerms(row)]);
    return byDeployment;
  },

  /** Stores what a data plane reports, unless the budgets have changed since. */
  async record(
    queries: Queries,
    where: Prisma.DeploymentWhereInput,
    { version, is_reached, message = null }: Omit<BudgetsReport, 'epoch'>,
  ): Promise<void> {
    await queries.deployment.updateMany({
      where: { ...where, budgetsVersion: BigInt(version) },
      data: { budgetsMessage: message, ...(is_reached && { budgetsReachedVersion: BigInt(version) }) },
    });
  },
};

export function toTerms(row: Budget): BudgetTerms {
  return {
    id: row.id,
    name: row.name,
    subject: row.subject as BudgetTerms['subject'],
    subject_id: row.subjectId,
    period: row.period as BudgetTerms['period'],
    tokens_max: row.tokensMax === null ? null : Number(row.tokensMax),
    runs_max: row.runsMax === null ? null : Number(row.runsMax),
    mode: row.mode as BudgetTerms['mode'],
    refusal_status: row.refusalStatus as BudgetTerms['refusal_status'],
  };
}
