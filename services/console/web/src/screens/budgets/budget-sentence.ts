import type { Budget, BudgetTerms } from '@runyard/contracts';

const PERIODS: Record<Budget['period'], string> = { hour: 'an hour', day: 'a day', month: 'a month' };

type Counted = Pick<BudgetTerms, 'subject' | 'subject_id'>;

/**
 * Returns what a budget allows: `100,000 tokens a day for each creator`.
 *
 * @param name how the one is called who has it alone; else by its id
 */
export function budgetSentence(
  budget: Counted & Pick<BudgetTerms, 'period' | 'tokens_max' | 'runs_max'>,
  name?: string,
): string {
  const caps = [amount(budget.tokens_max, 'token'), amount(budget.runs_max, 'run')].filter(Boolean).join(' and ');
  return `${caps} ${PERIODS[budget.period]} for ${countedWords(budget, name)}`;
}

/** Returns whose use is counted together: `the deployment`, `each key`, `creator ada@example.com`. */
export function countedWords({ subject, subject_id: id }: Counted, name = id): string {
  if (subject === 'deployment') return 'the deployment';
  return id === null ? `each ${subject}` : `${subject} ${name}`;
}

/** Returns how the present period is called: `this hour`, `today`. */
export function presentWords(period: Budget['period']): string {
  return period === 'day' ? 'today' : `this ${period}`;
}

function amount(max: number | null, unit: string): string | undefined {
  return max === null ? undefined : `${max.toLocaleString('en')} ${unit}${max === 1 ? '' : 's'}`;
}
