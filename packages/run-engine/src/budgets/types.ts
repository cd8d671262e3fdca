/** Budgets: how much of a deployment may be used in a period. */

/** A budget that has nothing left in the present period. */
export interface ExhaustedBudget {
  budgetId: string;
  name: string;
  period: 'hour' | 'day' | 'month';
  /** The cap that was reached. */
  measure: 'tokens' | 'runs';
  max: number;
  /** True when runs are refused and stopped; false when the budget is counted alone. */
  isEnforced: boolean;
  /** The end of the period. */
  until: Date;
  /** The assistant, creator or key that has used it up; empty for the deployment. */
  subjectId: string;
  /** The status by which new runs are refused. */
  refusalStatus: number;
}
