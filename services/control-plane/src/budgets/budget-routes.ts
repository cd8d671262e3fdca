import { createBudget, deleteBudget, listBudgets, patchBudget } from '@runyard/contracts';
import { bindCreation, type IdempotencyKeys } from '@runyard/idempotency';
import { type BoundOperation, bind, created, noContent, ok } from '@runyard/service-kit';
import type { BudgetService } from './budget-service.ts';

export function budgetRoutes(budgets: BudgetService, keys: IdempotencyKeys): BoundOperation[] {
  const deploymentOf = (params: { deployment_id: string }) => params.deployment_id.toLowerCase();
  const placeOf = (params: { deployment_id: string; budget_id: string }) => ({
    deploymentId: deploymentOf(params),
    budgetId: params.budget_id.toLowerCase(),
  });
  return [
    bind(listBudgets, async ({ caller, params }) => ok({ budgets: await budgets.list(caller, deploymentOf(params)) })),
    bindCreation(keys, createBudget, created, ({ caller, params, body }, keyed) =>
      budgets.create(caller, deploymentOf(params), body, keyed),
    ),
    bind(patchBudget, async ({ caller, params, body }) => ok(await budgets.patch(caller, placeOf(params), body))),
    bind(deleteBudget, async ({ caller, params }) => {
      await budgets.delete(caller, placeOf(params));
      return noContent();
    }),
  ];
}
