import type { UsageRequest } from '@runyard/contracts';
import { isUuid } from '../../platform/uuid.ts';

const DAY_MS = 86_400_000;

/** The times that usage is shown of: the days before today, and what a bar is. Days are those of UTC. */
export const RANGES = {
  today: { label: 'Today (UTC)', days: 0, step: 'hour' },
  week: { label: 'Last 7 days', days: 6, step: 'day' },
  month: { label: 'Last 30 days', days: 29, step: 'day' },
  quarter: { label: 'Last 90 days', days: 89, step: 'day' },
  year: { label: 'Last 12 months', days: 364, step: 'month' },
} as const satisfies Record<string, { label: string; days: number; step: UsageRequest['step'] }>;
type Range = keyof typeof RANGES;

/** The fields by which usage is told apart. */
export const GROUPS = {
  model: 'Model',
  deployment: 'Deployment',
  assistant: 'Assistant',
  creator: 'Maker of the runs',
  key: 'Key',
} as const;
export type Group = keyof typeof GROUPS;

/** The part of the address that says which usage is shown, and how it is told apart. */
export interface UsageChoice {
  range?: Range;
  by?: Group;
  deployment?: string;
}

/** Reads the choice of an address. Parts that are none are left out. */
export function readUsageChoice({ range, by, deployment }: Record<string, unknown>): UsageChoice {
  return {
    ...(typeof range === 'string' && Object.hasOwn(RANGES, range) && { range: range as Range }),
    ...(typeof by === 'string' && Object.hasOwn(GROUPS, by) && { by: by as Group }),
    ...(typeof deployment === 'string' && isUuid(deployment) && { deployment }),
  };
}

/** Returns the choice that is shown where an address leaves parts of it out. */
export function completed({ range = 'month', by = 'model', deployment }: UsageChoice) {
  return { range, by, deployment };
}

/** Returns what the bars are asked for. */
export function barsRequest(choice: UsageChoice, now: number): UsageRequest {
  const { range, deployment } = completed(choice);
  const { days, step } = RANGES[range];
  return {
    start_time: `${new Date(now - days * DAY_MS).toISOString().slice(0, 10)}T00:00:00.000Z`,
    step,
    limit: 1_000,
    ...(deployment !== undefined && { deployment_ids: [deployment] }),
  };
}

/** Returns what the table is asked for: the same time, told apart and in one. */
export function tableRequest(choice: UsageChoice, now: number): UsageRequest {
  return { ...barsRequest(choice, now), step: 'all', group_by: [completed(choice).by], limit: 200 };
}
