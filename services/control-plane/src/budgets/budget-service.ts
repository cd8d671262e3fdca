import { BUDGETS_MAX, type Budget, type BudgetCreate, type BudgetPatch, isUuid } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { BadRequestError, InvalidFieldError, NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queries } from '../database/database.ts';
import { untilConfirmed } from '../deployments/confirmation.ts';
import type { RolloutSignals } from '../deployments/rollout-signals.ts';
import type { Budget as BudgetRow, Deployment, Prisma } from '../generated/client.ts';
import { toTerms } from '../revisions/budgets/budget-store.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';

export interface BudgetServiceOptions {
  database: Database;
  rollouts: Pick<RolloutSignals, 'wakeAll'>;
}

/** The budget of a deployment, by their ids. */
export interface BudgetPlace {
  deploymentId: string;
  budgetId: string;
}

/** Records budgets as desired state of their deployments, whose own databases count what is used. */
export class BudgetService {
  readonly #options: BudgetServiceOptions;

  constructor(options: BudgetServiceOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError */
  async list(caller: Principal, deploymentId: string): Promise<Budget[]> {
    const { prisma } = this.#options.database;
    const deployment = await deploymentStore.get(prisma, tenantOf(caller), deploymentId);
    const orderBy = [{ createdAt: 'asc' as const }, { id: 'asc' as const }];
    const rows = await prisma.budget.findMany({ where: { deploymentId }, orderBy });
    return rows.map((row) => toBudget(row, deployment));
  }

  /** @throws NotFoundError, InvalidFieldError, BadRequestError for one budget too many */
  async create(
    caller: Principal,
    deploymentId: string,
    body: BudgetCreate,
    keyed: KeyedRequest | undefined,
  ): Promise<Budget> {
    const { subject } = body;
    const subjectId = readSubjectId(body);
    const caps = { tokensMax: toBigInt(body.tokens_max), runsMax: toBigInt(body.runs_max) };
    requireCap(caps);
    const id = uuidv7();
    const place = { deploymentId, budgetId: id };
    await this.#change(
      caller,
      deploymentId,
      withIdempotencyKey(keyed, async (transaction) => {
        if ((await transaction.budget.count({ where: { deploymentId } })) >= BUDGETS_MAX)
          throw new BadRequestError(`A deployment has at most ${BUDGETS_MAX} budgets.`);
        const { name, period, mode, refusal_status: refusalStatus } = body;
        const terms = { name, subject, subjectId, period, mode, refusalStatus, ...caps };
        await transaction.budget.create({ data: { id, deploymentId, ...terms, createdBy: caller.identity } });
        return readBudget(transaction, place);
      }),
    );
    return this.#readReached(place);
  }

  /** @throws NotFoundError, InvalidFieldError when no cap is left */
  async patch(caller: Principal, place: BudgetPlace, patch: BudgetPatch): Promise<Budget> {
    await this.#change(caller, place.deploymentId, async (transaction) => {
      const { tokensMax, runsMax } = await findBudget(transaction, place);
      const caps = {
        tokensMax: patch.tokens_max === undefined ? tokensMax : toBigInt(patch.tokens_max),
        runsMax: patch.runs_max === undefined ? runsMax : toBigInt(patch.runs_max),
      };
      requireCap(caps);
      const { name, mode, refusal_status } = patch;
      const data = {
        ...caps,
        ...(name !== undefined && { name }),
        ...(mode !== undefined && { mode }),
        ...(refusal_status !== undefined && { refusalStatus: refusal_status }),
      };
      await transaction.budget.update({ where: { id: place.budgetId }, data });
    });
    return this.#readReached(place);
  }

  /** @throws NotFoundError */
  async delete(caller: Principal, place: BudgetPlace): Promise<void> {
    await this.#change(caller, place.deploymentId, async (transaction) => {
      await findBudget(transaction, place);
      await transaction.budget.delete({ where: { id: place.budgetId } });
    });
  }

  /** Changes the budgets of a deployment under its lock, and wakes who has to tell it. @throws NotFoundError */
  async #change<Result>(
    caller: Principal,
    deploymentId: string,
    change: (transaction: Prisma.TransactionClient) => Promise<Result>,
  ): Promise<void> {
    const { database, rollouts } = this.#options;
    const deployment = await database.transact(async (transaction) => {
      const row = await deploymentStore.getForChange(transaction, tenantOf(caller), deploymentId);
      await transaction.deployment.update({
        where: { id: deploymentId },
        data: { budgetsVersion: { increment: 1 }, budgetsMessage: null },
      });
      await change(transaction);
      return row;
    });
    rollouts.wakeAll([deployment]);
  }

  #readReached(place: BudgetPlace): Promise<Budget> {
    const { prisma } = this.#options.database;
    return untilConfirmed(
      () => readBudget(prisma, place),
      ({ is_reached }) => is_reached,
    );
  }
}

/** @throws NotFoundError */
async function findBudget(
  queries: Queries,
  { deploymentId, budgetId }: BudgetPlace,
): Promise<BudgetRow & { deployment: Deployment }> {
  const row = await queries.budget.findFirst({ where: { id: budgetId, deploymentId }, include: { deployment: true } });
  if (!row) throw new NotFoundError(`Budget ID ${budgetId} not found.`);
  return row;
}

async function readBudget(queries: Queries, place: BudgetPlace): Promise<Budget> {
  const row = await findBudget(queries, place);
  return toBudget(row, row.deployment);
}

function toBudget(row: BudgetRow, deployment: Deployment): Budget {
  const isReached = deployment.budgetsVersion === deployment.budgetsReachedVersion;
  return {
    ...toTerms(row),
    deployment_id: row.deploymentId,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
    is_reached: isReached,
    message: isReached ? null : deployment.budgetsMessage,
  };
}

/** @throws InvalidFieldError */
function readSubjectId({ subject, subject_id: id = null }: BudgetCreate): string | null {
  if (id === null) return null;
  if (subject === 'deployment')
    throw new InvalidFieldError(['body', 'subject_id'], 'A budget of the deployment is for nobody alone');
  if (subject !== 'assistant') return id;
  if (!isUuid(id)) throw new InvalidFieldError(['body', 'subject_id'], 'Must be the id of an assistant');
  return id.toLowerCase();
}

function toBigInt(value: number | null | undefined): bigint | null {
  return value == null ? null : BigInt(value);
}

/** @throws InvalidFieldError */
function requireCap({ tokensMax, runsMax }: { tokensMax: bigint | null; runsMax: bigint | null }): void {
  if (tokensMax === null && runsMax === null)
    throw new InvalidFieldError(['body'], 'A budget caps tokens_max, runs_max or both');
}
