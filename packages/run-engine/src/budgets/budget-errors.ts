import { PaymentRequiredError, TooManyRequestsError } from '@runyard/service-kit';
import type { ExhaustedBudget } from './types.ts';

/** Returns the refusal of a new run, with the status that the budget asks for. */
export function exhaustedError(budget: ExhaustedBudget): PaymentRequiredError | TooManyRequestsError {
  const message = exhaustedMessage(budget);
  const internal = { budgetId: budget.budgetId, subjectId: budget.subjectId };
  if (budget.refusalStatus === 402) return new PaymentRequiredError(message, { code: 'budget_exhausted', internal });
  const retryAfterSeconds = Math.max(1, Math.ceil((budget.until.getTime() - Date.now()) / 1_000));
  return new TooManyRequestsError(message, { code: 'budget_exhausted_for_now', retryAfterSeconds, internal });
}

/** Returns what clients and people are shown. */
export function exhaustedMessage({ name, measure, max, period, until }: ExhaustedBudget): string {
  const amount = `${max} ${max === 1 ? measure.slice(0, -1) : measure} ${period === 'hour' ? 'an' : 'a'} ${period}`;
  return `The budget "${name}" is used up: ${amount}. It begins anew at ${until.toISOString()}`;
}

/**
 * The deployment got its first budget after the transaction had begun: nothing was written. It has the SQLSTATE of a
 * serialization failure, and so the transaction is repeated, with a look at budgets.
 */
export class UnreadBudgetsError extends Error {
  override readonly name = 'UnreadBudgetsError';
  readonly sqlState = '40001';
}
