import type { BudgetsReport, BudgetTerms } from '@runyard/contracts';

/** What is to be capped in one deployment. */
export interface DesiredBudgets {
  /** Grows with every change. */
  version: number;
  budgets: readonly BudgetTerms[];
}

/** Whether a deployment has its budgets. */
export type BudgetsOutcome = Omit<BudgetsReport, 'epoch'>;
