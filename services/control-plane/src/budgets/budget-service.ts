import { BUDGETS_MAX, type Budget, type BudgetCreate, type BudgetPatch, BudgetsChanged } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { BadRequestError, NotFoundError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queries } from '../database/database.ts';
import { untilConfirmed } from '../deployments/confirmation.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import { record } from '../events/record.ts';
import type { Budget as BudgetRow, Deployment, Prisma } from '../generated/client.ts';
import { budgetLock, toTerms } from '../revisions/budgets/budget-store.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';
import { readCaps, readSubject } from './budget-fields.ts';

export interface BudgetServiceOptions {
  database: Database;
  rollouts: Pick<RolloutSignals, 'wakeAll'>;
}

/** A deployment, or the workspace of the caller. */
export interface BudgetScope {
  deploymentId: string | null;
}

interface Scope extends BudgetScope, Tenant {}
type Concerned = Pick<Deployment, 'id' | 'listenerId' | 'budgetsVersion' | 'budgetsReachedVersion' | 'budgetsMessage'>;

/** Records budgets as desired state of the deployments, whose own databases count what is used. */
export class BudgetService {
  readonly #options: BudgetServiceOptions;

  constructor(options: BudgetServiceOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError */
  async list(caller: Principal, { deploymentId }: BudgetScope): Promise<Budget[]> {
    const { prisma } = this.#options.database;
    const tenant = tenantOf(caller);
    if (deploymentId !== null) await deploymentStore.get(prisma, tenant, deploymentId);
    const scope = { ...tenant, deploymentId };
    const rows = await prisma.budget.findMany({
      where: whereOf(scope),
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    const concerned = await findConcerned(prisma, scope);
    return rows.map((row) => toBudget(row, concerned));
  }

  /** @throws NotFoundError, InvalidFieldError, BadRequestError for one budget too many */
  async create(
    caller: Principal,
    { deploymentId }: BudgetScope,
    body: BudgetCreate,
    keyed: KeyedRequest | undefined,
  ): Promise<Budget> {
    const scope = { ...tenantOf(caller), deploymentId };
    const { name, period, mode, refusal_status: refusalStatus } = body;
    const terms = { name, period, mode, refusalStatus, ...readSubject(scope, body), ...readCaps(body) };
    const id = uuidv7();
    await this.#change(
      scope,
      withIdempotencyKey(keyed, async (transaction) => {
        if ((await transaction.budget.count({ where: whereOf(scope) })) >= BUDGETS_MAX) {
          const place = deploymentId === null ? 'workspace' : 'deployment';
          throw new BadRequestError(`A ${place} has at most ${BUDGETS_MAX} budgets.`);
        }
        await transaction.budget.create({ data: { id, ...terms, ...whereOf(scope), createdBy: caller.identity } });
        return readBudget(transaction, scope, id);
      }),
    );
    return this.#readReached(scope, id);
  }

  /** @throws NotFoundError, InvalidFieldError when no cap is left */
  async patch(caller: Principal, { deploymentId }: BudgetScope, id: string, patch: BudgetPatch): Promise<Budget> {
    const scope = { ...tenantOf(caller), deploymentId };
    await this.#change(scope, async (transaction) => {
      const { name, mode, refusal_status: refusalStatus } = patch;
      const present = await findBudget(transaction, scope, id);
      const caps = readCaps(patch, present);
      const data = {
        ...caps,
        ...(name !== undefined && { name }),
        ...(mode !== undefined && { mode }),
        ...(refusalStatus !== undefined && { refusalStatus }),
      };
      await transaction.budget.update({ where: { id }, data });
      if (caps.tokensMax === present.tokensMax && caps.runsMax === present.runsMax) return;
      // Whoever sums up says it again if it is so with the new caps too.
      await transaction.exhaustedBudget.deleteMany({ where: { budgetId: id } });
    });
    return this.#readReached(scope, id);
  }

  /** @throws NotFoundError */
  async delete(caller: Principal, { deploymentId }: BudgetScope, id: string): Promise<void> {
    const scope = { ...tenantOf(caller), deploymentId };
    await this.#change(scope, async (transaction) => {
      await findBudget(transaction, scope, id);
      await transaction.budget.delete({ where: { id } });
    });
  }

  /** Changes budgets under the lock of their scope, and wakes who has to tell the deployments. @throws NotFoundError */
  async #change<Result>(
    scope: Scope,
    change: (transaction: Prisma.TransactionClient) => Promise<Result>,
  ): Promise<void> {
    const { database, rollouts } = this.#options;
    const concerned = await database.transact(async (transaction) => {
      await lockScope(transaction, scope);
      await change(transaction);
      await transaction.deployment.updateMany({
        where: concernedBy(scope),
        data: { budgetsVersion: { increment: 1 }, budgetsMessage: null },
      });
      if (scope.deploymentId === null) await recordChange(transaction, scope);
      return findConcerned(transaction, scope);
    });
    rollouts.wakeAll(concerned);
  }

  #readReached(scope: Scope, id: string): Promise<Budget> {
    const { prisma } = this.#options.database;
    return untilConfirmed(
      () => readBudget(prisma, scope, id),
      ({ is_reached }) => is_reached,
    );
  }
}

/** @throws NotFoundError */
async function lockScope(transaction: Prisma.TransactionClient, { deploymentId, ...tenant }: Scope): Promise<void> {
  if (deploymentId === null) await takeAdvisoryLock(transaction, budgetLock(tenant.workspaceId));
  else await deploymentStore.getForChange(transaction, tenant, deploymentId);
}

async function recordChange(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Tenant,
): Promise<void> {
  const data = { organization_id: organizationId, workspace_id: workspaceId };
  await record(transaction, BudgetsChanged, workspaceId, data);
}

/** Selects the budgets of the scope alone. */
function whereOf({ organizationId, workspaceId, deploymentId }: Scope): Scope {
  return { organizationId, workspaceId, deploymentId };
}

/** Selects the deployments that budgets of the scope are for. */
function concernedBy({ organizationId, workspaceId, deploymentId }: Scope): Prisma.DeploymentWhereInput {
  return { organizationId, workspaceId, deleteRequestedAt: null, ...(deploymentId !== null && { id: deploymentId }) };
}

function findConcerned(queries: Queries, scope: Scope): Promise<Concerned[]> {
  return queries.deployment.findMany({
    where: concernedBy(scope),
    select: { id: true, listenerId: true, budgetsVersion: true, budgetsReachedVersion: true, budgetsMessage: true },
    orderBy: { createdAt: 'asc' },
  });
}

/** @throws NotFoundError */
async function findBudget(queries: Queries, scope: Scope, id: string): Promise<BudgetRow> {
  const row = await queries.budget.findFirst({ where: { ...whereOf(scope), id } });
  if (!row) throw new NotFoundError(`Budget ID ${id} not found.`);
  return row;
}

async function readBudget(queries: Queries, scope: Scope, id: string): Promise<Budget> {
  return toBudget(await findBudget(queries, scope, id), await findConcerned(queries, scope));
}

function toBudget(row: BudgetRow, concerned: readonly Concerned[]): Budget {
  const unreached = concerned.filter((each) => each.budgetsVersion !== each.budgetsReachedVersion);
  return {
    ...toTerms(row),
    deployment_id: row.deploymentId,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    is_reached: unreached.length === 0,
    message: unreached.find(({ budgetsMessage }) => budgetsMessage !== null)?.budgetsMessage ?? null,
  };
}
