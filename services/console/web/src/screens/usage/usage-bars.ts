import type { UsageGroup, UsageRow } from '@runyard/contracts';
import type { StackedBar } from '../../components/stacked-bars.tsx';
import type { Period } from './usage-choice.ts';
import { filterValue, keyOf, sumRows } from './usage-rows.ts';

const HOUR_MS = 3_600_000;
/** Values of the first group that have a part of each bar of their own. */
const SERIES_MAX = 4;

/**
 * Returns the values of the first group that are shown in the bars: those with the most tokens. One without a name, such
 * as no key, cannot be asked for, and is what the others leave.
 */
export function topRows(rows: readonly UsageRow[], group: UsageGroup): UsageRow[] {
  return sumRows(rows, [group])
    .filter((row) => row.total_tokens > 0 && filterValue(row, group) !== undefined)
    .slice(0, SERIES_MAX);
}

interface Sums {
  /** The sums by time of all. */
  all: readonly UsageRow[];
  /** The same of values of the first group. */
  series: readonly UsageRow[];
  group: UsageGroup;
  /** The values that are shown, one part of a bar for each. */
  tops: readonly UsageRow[];
}

/** Returns a bar for each step, those without usage too. Its last part is what is of no shown value. */
export function usageBars({ start, end, step }: Period, { all, series, group, tops }: Sums): StackedBar[] {
  const totals = new Map(all.map((row) => [timeOf(row), row.total_tokens]));
  const parts = new Map(series.map((row) => [`${timeOf(row)} ${keyOf(row, [group])}`, row.total_tokens]));
  const keys = tops.map((row) => keyOf(row, [group]));
  const bars: StackedBar[] = [];
  for (let at = step === 'month' ? monthOf(start) : start; at < end; at = after(at, step)) {
    const values = keys.map((key) => parts.get(`${at} ${key}`) ?? 0);
    // Answers are a moment apart: a part may be ahead of the whole.
    const rest = Math.max(0, (totals.get(at) ?? 0) - values.reduce((sum, value) => sum + value, 0));
    bars.push({ label: labelOf(at, step), values: [...values, rest] });
  }
  return bars;
}

function timeOf({ time }: UsageRow): number {
  return Date.parse(time ?? '');
}

function monthOf(time: number): number {
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

function after(at: number, step: Period['step']): number {
  if (step !== 'month') return at + (step === 'hour' ? 1 : 24) * HOUR_MS;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

function labelOf(at: number, step: Period['step']): string {
  const time = new Date(at).toISOString();
  if (step === 'hour') return `${time.slice(5, 10)} ${time.slice(11, 16)} UTC`;
  return time.slice(0, step === 'month' ? 7 : 10);
}
