import type { Logger } from '@runyard/service-kit';
import { exhaustedMessage } from './budget-errors.ts';
import type { ExhaustedBudget } from './types.ts';

/** Returns a listener that tells the log of the deployment what was used up, and by whom. */
export function warnOfBudgets(logger: Pick<Logger, 'warn'>): (budget: ExhaustedBudget) => void {
  return (budget) =>
    logger.warn(budget.isEnforced ? 'budget used up' : 'budget used up, but not enforced', {
      budgetId: budget.budgetId,
      ...(budget.subjectId !== '' && { subjectId: budget.subjectId }),
      message: exhaustedMessage(budget),
    });
}
