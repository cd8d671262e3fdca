import type { Usage, UsageRequest } from '@runyard/contracts';

const HOUR_MS = 3_600_000;

/** The tokens of an hour, a day or a month. */
export interface UsageBar {
  /** Milliseconds since 1970. */
  at: number;
  tokens: number;
}

/** Returns a bar for each step from the start to now, those without usage too. */
export function usageBars(rows: Usage['rows'], { start_time, step }: UsageRequest, now: number): UsageBar[] {
  const tokens = new Map(rows.map(({ time, total_tokens }) => [Date.parse(time ?? ''), total_tokens]));
  const bars: UsageBar[] = [];
  for (let at = startOf(start_time, step); at <= now; at = after(at, step))
    bars.push({ at, tokens: tokens.get(at) ?? 0 });
  return bars;
}

function startOf(time: string, step: UsageRequest['step']): number {
  return step === 'month' ? Date.parse(`${time.slice(0, 7)}-01T00:00:00.000Z`) : Date.parse(time);
}

function after(at: number, step: UsageRequest['step']): number {
  if (step !== 'month') return at + (step === 'hour' ? 1 : 24) * HOUR_MS;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** Returns the name of a bar. */
export function barLabel({ at }: UsageBar, step: UsageRequest['step']): string {
  const time = new Date(at).toISOString();
  if (step === 'hour') return `${time.slice(11, 16)} UTC`;
  return step === 'month' ? time.slice(0, 7) : time.slice(0, 10);
}
