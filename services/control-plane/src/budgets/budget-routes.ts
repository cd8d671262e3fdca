import {
  createBudget,
  createWorkspaceBudget,
  deleteBudget,
  deleteWorkspaceBudget,
  listBudgets,
  listSummedBudgets,
  listWorkspaceBudgets,
  patchBudget,
  patchWorkspaceBudget,
  reportExhaustedSums,
} from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, noContent, ok } from '@runyard/service-kit';
import type { BudgetScope, BudgetService } from './budget-service.ts';
import type { BudgetSums } from './budget-sums.ts';

const WORKSPACE: BudgetScope = { deploymentId: null };

export function budgetRoutes(budgets: BudgetService, keys: IdempotencyKeys): BoundOperation[] {
  const scopeOf = (params: { deployment_id: string }) => ({ deploymentId: params.deployment_id.toLowerCase() });
  const idOf = (params: { budget_id: string }) => params.budget_id.toLowerCase();
  return [
    bind(listBudgets, async ({ caller, params }) => ok({ budgets: await budgets.list(caller, scopeOf(params)) })),
    bindCreation(keys, createBudget, created, ({ caller, params, body }, keyed) =>
      budgets.create(caller, scopeOf(params), body, keyed),
    ),
    bind(patchBudget, async ({ caller, params, body }) =>
      ok(await budgets.patch(caller, scopeOf(params), idOf(params), body)),
    ),
    bind(deleteBudget, async ({ caller, params }) => {
      await budgets.delete(caller, scopeOf(params), idOf(params));
      return noContent();
    }),
    bind(listWorkspaceBudgets, async ({ caller }) => ok({ budgets: await budgets.list(caller, WORKSPACE) })),
    bindCreation(keys, createWorkspaceBudget, created, ({ caller, body }, keyed) =>
      budgets.create(caller, WORKSPACE, body, keyed),
    ),
    bind(patchWorkspaceBudget, async ({ caller, params, body }) =>
      ok(await budgets.patch(caller, WORKSPACE, params.workspace_budget_id.toLowerCase(), body)),
    ),
    bind(deleteWorkspaceBudget, async ({ caller, params }) => {
      await budgets.delete(caller, WORKSPACE, params.workspace_budget_id.toLowerCase());
      return noContent();
    }),
  ];
}

/** Serves run-history, which sums up what several deployments use together. */
export function budgetSumRoutes(sums: BudgetSums): BoundOperation[] {
  return [
    bind(listSummedBudgets, async () => ok({ budgets: await sums.list() })),
    bind(reportExhaustedSums, async ({ body }) => ok({ taken: await sums.report(body.exhausted) })),
  ];
}
