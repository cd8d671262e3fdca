import type { BudgetsReport, BudgetTerms, ExhaustedSum } from '@runyard/contracts';

/** The caps on the use of one deployment. */
export interface DesiredBudgets {
  /** Grows with every change. */
  version: number;
  budgets: readonly BudgetTerms[];
  /** Those that several deployments have used up together, and by whom. */
  exhausted: readonly Omit<ExhaustedSum, 'max'>[];
}

/** Says whether a deployment has its budgets. */
export type BudgetsOutcome = Omit<BudgetsReport, 'epoch'>;
