import type { Budget, UsageFigures, UsageRequest, UsageRow } from '@runyard/contracts';
import { isUuid } from '../../platform/uuid.ts';
import { FILTERS } from '../usage/usage-choice.ts';
import { filterValue } from '../usage/usage-rows.ts';
import { endOfPeriod, startOfPeriod } from './budget-period.ts';
import { type Counted, canBeOfOne, type Owner, ownersOf } from './budget-subject.ts';

/**
 * Rows that are read of those who have used something: the journal has those with the most tokens first, and who has
 * made the most runs may be further down.
 */
const ROWS = 200;
const USERS_MAX = 5;

type Figures = Pick<UsageFigures, 'runs' | 'total_tokens'>;
type Caps = Pick<Budget, 'tokens_max' | 'runs_max'>;

/** A cap of a budget, and how much of it is used. */
export interface Measure {
  unit: 'tokens' | 'runs';
  used: number;
  max: number;
}

/** Somebody who has used a part of a budget that each has. */
export interface BudgetUser {
  id: string;
  /** A row of the journal about them, by which they are named. */
  row: UsageRow;
  figures: Figures;
}

/**
 * Returns the request for what is used of a budget in the period that a moment is in; undefined where nothing can be
 * used, since no assistant has such an id. Budgets that count the same in the same period have the same request.
 */
export function usageRequestOf(budget: Counted & Pick<Budget, 'period'>, moment: number): UsageRequest | undefined {
  const { subject, subject_id: id, deployment_id: deploymentId, period } = budget;
  const owners = ownersOf(budget);
  if (subject === 'assistant' && id !== null && !isUuid(id)) return undefined;
  return {
    start_time: new Date(startOfPeriod(period, moment)).toISOString(),
    end_time: new Date(endOfPeriod(period, moment)).toISOString(),
    // A sum of all is that of whole days.
    step: period === 'hour' ? 'hour' : 'all',
    ...(deploymentId !== null && { deployment_ids: [deploymentId] }),
    ...(owners && { group_by: [owners] }),
    ...(canBeOfOne(subject) && id !== null && { [FILTERS[subject]]: [id] }),
    limit: ROWS,
  };
}

/** Returns the caps of a budget with what is used of each. */
export function measuresOf({ tokens_max: tokensMax, runs_max: runsMax }: Caps, figures: Figures): Measure[] {
  return [
    ...(tokensMax === null ? [] : [{ unit: 'tokens', used: figures.total_tokens, max: tokensMax } as const]),
    ...(runsMax === null ? [] : [{ unit: 'runs', used: figures.runs, max: runsMax } as const]),
  ];
}

/** Returns how much of a budget is used, as a part of 1: that of the cap which is reached first. */
export function shareOf(measures: readonly Measure[]): number {
  return Math.max(0, ...measures.map(({ used, max }) => used / max));
}

/** Returns that in words: `1,200 of 100,000 tokens (1 %)`. Only what is used up has 100 %. */
export function usedWords({ unit, used, max }: Measure): string {
  const percent = Math.floor((used * 100) / max);
  const share = used > 0 && percent === 0 ? 'less than 1' : percent.toLocaleString('en');
  return `${used.toLocaleString('en')} of ${max.toLocaleString('en')} ${unit} (${share} %)`;
}

/**
 * Returns who has used the most of a budget that each has. A creator who comes by several ways, such as signed in and
 * by a token, is one; runs without a creator or a key count for nobody.
 */
export function topUsers(rows: readonly UsageRow[], owners: Owner, caps: Caps): BudgetUser[] {
  const users = new Map<string, BudgetUser>();
  for (const row of rows) {
    const id = filterValue(row, owners);
    if (id === undefined) continue;
    const { runs, total_tokens: tokens } = users.get(id)?.figures ?? { runs: 0, total_tokens: 0 };
    const figures = { runs: runs + row.runs, total_tokens: tokens + row.total_tokens };
    users.set(id, { row, ...users.get(id), id, figures });
  }
  const share = ({ figures }: BudgetUser) => shareOf(measuresOf(caps, figures));
  return [...users.values()]
    .filter((user) => share(user) > 0)
    .sort((one, other) => share(other) - share(one))
    .slice(0, USERS_MAX);
}
