import type { Budget } from '@runyard/contracts';
import type { BudgetsPlace } from '../../platform/budgets.ts';
import type { GroupValues } from '../usage/usage-rows.ts';
import { useNames } from '../usage/use-names.ts';
import { canBeOfOne } from './budget-subject.ts';

/** Returns functions that name those whose use is counted, where the person may know their names; else by their ids. */
export function useBudgetNames({ workspaceId, deploymentId }: BudgetsPlace, budgets: readonly Budget[]) {
  const groups = [...new Set(budgets.map(({ subject }) => subject).filter(canBeOfOne))];
  const nameOf = useNames(workspaceId, groups, deploymentId);
  return {
    nameOf,
    /** Returns how the one is called who has a budget alone; undefined where there is none. */
    nameOfSubject: ({ subject, subject_id: id }: Budget) =>
      id === null || !canBeOfOne(subject) ? undefined : nameOf(valuesOf(subject, id), subject).name,
  };
}

function valuesOf(subject: 'assistant' | 'creator' | 'key', id: string): GroupValues {
  switch (subject) {
    case 'assistant':
      return { assistant_id: id };
    case 'creator':
      // A budget knows the identity of a creator, and not what kind they are of.
      return { creator: { kind: '', identity: id } };
    case 'key':
      return { key_id: id };
  }
}
