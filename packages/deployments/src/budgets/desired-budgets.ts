import type { BudgetsReport, BudgetTerms } from '@runyard/contracts';

/** The caps on the use of one deployment. */
export interface DesiredBudgets {
  /** Grows with every change. */
  version: number;
  budgets: readonly BudgetTerms[];
}

/** Says whether a deployment has its budgets. */
export type BudgetsOutcome = Omit<BudgetsReport, 'epoch'>;
