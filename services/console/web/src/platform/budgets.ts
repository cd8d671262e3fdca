import type { Budget, BudgetCreate, BudgetPatch } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at, type PlatformPath } from './path.ts';

const WATCHED_MS = 5_000;

/** The ids that lead to the budgets of a deployment; without `deploymentId` to those of the workspace. */
export interface BudgetsPlace {
  workspaceId: string;
  deploymentId?: string;
}

function pathOf({ deploymentId }: BudgetsPlace): PlatformPath {
  if (deploymentId === undefined) return at`/v2/workspaces/current/budgets`;
  return at`/v2/deployments/${deploymentId}/budgets`;
}

/** The budgets of a place, the oldest first. They are watched until each deployment that they are for has them. */
export function budgetsQuery(place: BudgetsPlace) {
  const { workspaceId, deploymentId } = place;
  return queryOptions({
    queryKey: ['budgets', workspaceId, deploymentId ?? null],
    queryFn: async ({ signal }) => {
      const { budgets } = await ask<{ budgets: Budget[] }>(pathOf(place), { workspaceId, signal });
      return budgets;
    },
    refetchInterval: ({ state: { data = [] } }) => !data.every((budget) => budget.is_reached) && WATCHED_MS,
  });
}

/** Makes a budget. Repeated with the same `requestKey` it is the same. @throws PlatformError */
export function createBudget(place: BudgetsPlace, body: BudgetCreate, requestKey: string): Promise<Budget> {
  const headers = { 'idempotency-key': requestKey };
  return ask<Budget>(pathOf(place), { method: 'POST', workspaceId: place.workspaceId, body, headers });
}

/** Changes a budget. What it has counted stays counted. @throws PlatformError */
export function patchBudget(place: BudgetsPlace, id: string, body: BudgetPatch): Promise<Budget> {
  return ask<Budget>(at`${pathOf(place)}/${id}`, { method: 'PATCH', workspaceId: place.workspaceId, body });
}

/** Deletes a budget with what it has counted. @throws PlatformError */
export async function deleteBudget(place: BudgetsPlace, id: string): Promise<void> {
  await ask(at`${pathOf(place)}/${id}`, { method: 'DELETE', workspaceId: place.workspaceId });
}
