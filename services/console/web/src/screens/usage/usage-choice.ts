import type { UsageFileRequest, UsageGroup, UsageRequest } from '@runyard/contracts';
import { isUuid } from '../../platform/uuid.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Hours are kept for 14 days unless somebody has configured fewer. */
const HOURS_KEPT_MS = 13 * DAY_MS;
const HOURS_MAX_MS = 2 * DAY_MS;
const DAYS_MAX_MS = 100 * DAY_MS;
const BARS_MAX = 1_000;
/** Rows of the table. An answer about hours has those of each hour, and so more. */
const TABLE_ROWS = 200;
const HOUR_ROWS = 1_000;

type Step = 'hour' | 'day' | 'month';

/** The times up to now that usage is shown of: how far each goes back, and what a bar is. Days are those of UTC. */
export const RANGES = {
  day: { label: 'Last 24 hours', ms: DAY_MS, step: 'hour' },
  week: { label: 'Last 7 days', ms: 7 * DAY_MS, step: 'day' },
  month: { label: 'Last 30 days', ms: 30 * DAY_MS, step: 'day' },
  quarter: { label: 'Last 90 days', ms: 90 * DAY_MS, step: 'day' },
  year: { label: 'Last 12 months', ms: 365 * DAY_MS, step: 'month' },
} as const satisfies Record<string, { label: string; ms: number; step: Step }>;
export type Range = keyof typeof RANGES;

/** The fields by which usage is told apart. */
export const GROUPS = {
  model: 'Model',
  deployment: 'Deployment',
  assistant: 'Assistant',
  creator: 'Maker',
  key: 'Key',
} as const satisfies Record<UsageGroup, string>;

/** The filter of requests that is about the values of a group. */
export const FILTERS = {
  model: 'models',
  deployment: 'deployment_ids',
  assistant: 'assistant_ids',
  creator: 'creators',
  key: 'key_ids',
} as const satisfies Record<UsageGroup, keyof UsageFileRequest>;

/** The part of the address that says which usage is shown, and how it is told apart. */
export interface UsageChoice {
  range?: Range;
  /** The first and the last day of a time of one's own, in place of `range`: `2026-11-20`. */
  from?: string;
  to?: string;
  by?: UsageGroup;
  /** A second field by which usage is told apart. */
  and?: UsageGroup;
  deployment?: string;
  model?: string;
}

/** Reads the choice of an address. Parts that are none are left out. */
export function readUsageChoice(search: Record<string, unknown>): UsageChoice {
  const { range, from, to, by, and, deployment, model } = search;
  const isOwn = isDay(from) || isDay(to);
  return {
    ...(!isOwn && isKeyOf(RANGES, range) && { range }),
    ...(isDay(from) && { from }),
    ...(isDay(to) && { to }),
    ...(isKeyOf(GROUPS, by) && { by }),
    ...(isKeyOf(GROUPS, and) && { and }),
    ...(typeof deployment === 'string' && isUuid(deployment) && { deployment }),
    // Values of an address are read as JSON where they can be: a model may be called `4`.
    ...((typeof model === 'string' || typeof model === 'number') && model !== '' && { model: String(model) }),
  };
}

/** Returns the groups of a choice: one or two. */
export function groupsOf({ by = 'model', and }: UsageChoice): UsageGroup[] {
  return and === undefined || and === by ? [by] : [by, and];
}

/** Returns the range of a choice; undefined where it has a time of its own. */
export function rangeOf({ range = 'month', from, to }: UsageChoice): Range | undefined {
  return from === undefined && to === undefined ? range : undefined;
}

/** A time that usage is shown of, from its first to its last bar. */
export interface Period {
  /** Inclusive; in milliseconds, as `end` is. */
  start: number;
  /** Exclusive. */
  end: number;
  step: Step;
}

/** Returns the time of a choice. Hours and days that are not over yet belong to it. */
export function periodOf(choice: UsageChoice, now: number): Period {
  const range = rangeOf(choice);
  if (range !== undefined) {
    const { ms, step } = RANGES[range];
    const unit = step === 'hour' ? HOUR_MS : DAY_MS;
    return { start: startOf(now - ms + unit, unit), end: now, step };
  }
  const last = choice.to === undefined ? startOf(now, DAY_MS) : Date.parse(choice.to);
  const first = choice.from === undefined ? last - RANGES.month.ms + DAY_MS : Date.parse(choice.from);
  const [start, endDay] = [Math.min(first, last), Math.max(first, last)];
  const end = start < now ? Math.min(endDay + DAY_MS, now) : endDay + DAY_MS;
  return { start, end, step: stepOf(start, end, now) };
}

/** Returns the first and the last day of a time, as fields of dates have them. */
export function daysOf({ start, end }: Period): { from: string; to: string } {
  return { from: dayOf(start), to: dayOf(end - 1) };
}

/** Returns the request for the sums by time. */
export function barsRequest(choice: UsageChoice, now: number): UsageRequest {
  return { ...selectionOf(choice, now), limit: BARS_MAX };
}

/** Returns the request for the sums by time of some values of the first group. */
export function seriesRequest(choice: UsageChoice, now: number, values: string[]): UsageRequest {
  const [group] = groupsOf(choice);
  return { ...barsRequest(choice, now), group_by: [group!], [FILTERS[group!]]: values };
}

/** Returns the request for the sums of the whole time, told apart. Only by hours is it what the bars show. */
export function tableRequest(choice: UsageChoice, now: number): UsageRequest {
  const isByHour = rangeOf(choice) === 'day';
  return {
    ...selectionOf(choice, now),
    step: isByHour ? 'hour' : 'all',
    group_by: groupsOf(choice),
    limit: isByHour ? HOUR_ROWS : TABLE_ROWS,
  };
}

/** Returns the request for the models among which one is chosen. */
export function modelsRequest({ model: _, ...choice }: UsageChoice, now: number): UsageRequest {
  return { ...selectionOf(choice, now), step: 'all', group_by: ['model'], limit: TABLE_ROWS };
}

/** Returns the request for a file with the numbers of the chart and the table. */
export function fileRequest(choice: UsageChoice, now: number): UsageFileRequest {
  return { ...selectionOf(choice, now), group_by: groupsOf(choice) };
}

/** Returns the name of that file. */
export function fileName(choice: UsageChoice, now: number): string {
  const { from, to } = daysOf(periodOf(choice, now));
  return `usage-by-${groupsOf(choice).join('-and-')}-${from}-to-${to}.csv`;
}

function selectionOf(choice: UsageChoice, now: number) {
  const { start, end, step } = periodOf(choice, now);
  return {
    start_time: new Date(start).toISOString(),
    end_time: new Date(end).toISOString(),
    step,
    ...(choice.deployment !== undefined && { deployment_ids: [choice.deployment] }),
    ...(choice.model !== undefined && { models: [choice.model] }),
  };
}

function stepOf(start: number, end: number, now: number): Step {
  if (end - start <= HOURS_MAX_MS && now - start <= HOURS_KEPT_MS) return 'hour';
  return end - start <= DAYS_MAX_MS ? 'day' : 'month';
}

function startOf(time: number, unit: number): number {
  return Math.floor(time / unit) * unit;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Nobody has used anything before this century had the platform. */
function isDay(value: unknown): value is string {
  if (typeof value !== 'string' || !/^20\d\d-\d\d-\d\d$/.test(value)) return false;
  const time = Date.parse(value);
  return !Number.isNaN(time) && dayOf(time) === value;
}

function isKeyOf<Values extends object>(values: Values, key: unknown): key is keyof Values {
  return typeof key === 'string' && Object.hasOwn(values, key);
}
