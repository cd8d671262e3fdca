import type { Budget } from '@runyard/contracts';

export type BudgetPeriod = Budget['period'];

/** Returns when the period began that a moment is in. Periods are those of UTC, whatever the zone of the browser is. */
export function startOfPeriod(period: BudgetPeriod, moment: number): number {
  return turnOf(period, moment, 0);
}

/** Returns when that period ends and the next one begins. */
export function endOfPeriod(period: BudgetPeriod, moment: number): number {
  return turnOf(period, moment, 1);
}

function turnOf(period: BudgetPeriod, moment: number, after: 0 | 1): number {
  const date = new Date(moment);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  switch (period) {
    case 'hour':
      return Date.UTC(year, month, day, date.getUTCHours() + after);
    case 'day':
      return Date.UTC(year, month, day + after);
    case 'month':
      return Date.UTC(year, month + after);
  }
}
