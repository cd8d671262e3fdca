import type { Budget } from '@runyard/contracts';
import { type Counted, ownersOf } from './budget-subject.ts';

const PERIODS: Record<Budget['period'], string> = { hour: 'an hour', day: 'a day', month: 'a month' };

/**
 * Returns what a budget allows: `100,000 tokens a day for each creator`.
 *
 * @param name how the one is called who has it alone; else by its id
 */
export function budgetSentence(
  budget: Counted & Pick<Budget, 'period' | 'tokens_max' | 'runs_max'>,
  name?: string,
): string {
  const caps = [amount(budget.tokens_max, 'token'), amount(budget.runs_max, 'run')].filter(Boolean).join(' and ');
  return `${caps} ${PERIODS[budget.period]} for ${countedWords(budget, name)}`;
}

/** Returns whose use is counted together: `the workspace`, `each deployment`, `creator ada@example.com`. */
export function countedWords(counted: Counted, name = counted.subject_id): string {
  const { subject, subject_id: id } = counted;
  if (id !== null) return `${subject} ${name}`;
  return `${ownersOf(counted) ? 'each' : 'the'} ${subject}`;
}

/** Returns how the present period is called: `this hour`, `today`. */
export function presentWords(period: Budget['period']): string {
  return period === 'day' ? 'today' : `this ${period}`;
}

function amount(max: number | null, unit: string): string | undefined {
  return max === null ? undefined : `${max.toLocaleString('en')} ${unit}${max === 1 ? '' : 's'}`;
}
