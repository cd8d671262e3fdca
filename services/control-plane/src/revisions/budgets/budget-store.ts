import type { BudgetsReport, BudgetTerms, DesiredDeployment, ExhaustedSum } from '@runyard/contracts';
import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import type { Budget, Deployment, Prisma } from '../../generated/client.ts';

type Placed = Pick<Deployment, 'id' | 'workspaceId'>;
type DesiredBudgets = Required<Pick<DesiredDeployment, 'budgets' | 'exhausted_budgets'>>;

/** Entries that one deployment is told of: the newest. */
const EXHAUSTED_MAX = 1_000;
/** Of the longest month, in milliseconds. */
const PERIOD_MS_MAX = 31 * 86_400_000;

/** The name of the lock under which budgets of a workspace change, and deployments are created in it. */
export const budgetLock = (workspaceId: string) => `budgets of ${workspaceId}`;

/** Stores budgets for the data planes, and how far their deployments are with them. */
export const budgetStore = {
  /** Returns the caps of each of these deployments: its own and those of its workspace. */
  async desiredOf(queries: Queries, deployments: readonly Placed[]): Promise<Map<string, DesiredBudgets>> {
    const ids = deployments.map(({ id }) => id);
    const workspaceIds = [...new Set(deployments.map(({ workspaceId }) => workspaceId))];
    const rows = await queries.budget.findMany({
      where: { OR: [{ deploymentId: { in: ids } }, { deploymentId: null, workspaceId: { in: workspaceIds } }] },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    const exhausted = await queries.exhaustedBudget.findMany({
      where: { budgetId: { in: rows.map(({ id }) => id) }, start: { gte: new Date(Date.now() - PERIOD_MS_MAX) } },
      orderBy: { start: 'desc' },
    });
    return new Map(
      deployments.map(({ id, workspaceId }) => {
        const own = rows.filter((row) =>
          row.deploymentId === null ? row.workspaceId === workspaceId : row.deploymentId === id,
        );
        const ofOwn = new Set(own.map((row) => row.id));
        return [
          id,
          {
            budgets: own.map(toTerms),
            exhausted_budgets: exhausted
              .filter(({ budgetId }) => ofOwn.has(budgetId))
              .slice(0, EXHAUSTED_MAX)
              .map(({ budgetId, subjectId, start, measure }) => ({
                budget_id: budgetId,
                subject_id: subjectId,
                start: start.toISOString(),
                measure: measure as ExhaustedSum['measure'],
              })),
          },
        ];
      }),
    );
  },

  /** Returns whether a workspace has budgets that each new deployment is to have from its first moment on. */
  async hasOfWorkspace(queries: Queries, { organizationId, workspaceId }: Tenant): Promise<boolean> {
    return (await queries.budget.count({ where: { organizationId, workspaceId, deploymentId: null } })) > 0;
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

  /** Removes the budgets of a deleted workspace. */
  async removeWorkspace(queries: Queries, { organizationId, workspaceId }: Tenant): Promise<void> {
    await queries.budget.deleteMany({ where: { organizationId, workspaceId } });
  },
};

/** Returns a budget as deployments get it. */
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
