import type { RunStatistics } from '@runyard/contracts';

/** Runs of a part of a range. */
export interface RunBar {
  from: number;
  to: number;
  created: number;
  failed: number;
}

/** So many bars are shown at most. */
export const BARS_MAX = 60;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;

export interface ShownRange {
  start: number;
  end: number;
  step: 'minute' | 'day';
}

/** Returns the range of the numbers for a range of runs: without one, the last thirty days. */
export function rangeOf(
  { withinMs, from, to }: { withinMs: number | undefined; from: string | undefined; to: string | undefined },
  now: number,
): ShownRange {
  const end = to === undefined ? now : Date.parse(to);
  const start = from === undefined ? end - (withinMs ?? DEFAULT_DAYS * DAY_MS) : Date.parse(from);
  // An answer has 1,500 points at most: a day of minutes, not more.
  const step = end - start <= DAY_MS ? 'minute' : 'day';
  return { start: Math.min(start, end), end, step };
}

/** Returns bars of the same width for a range, those without runs too. */
export function barsOf(points: RunStatistics['points'], { start, end, step }: ShownRange): RunBar[] {
  const stepMs = step === 'minute' ? MINUTE_MS : DAY_MS;
  const first = Math.floor(start / stepMs) * stepMs;
  const steps = Math.max(1, Math.ceil((end - first) / stepMs));
  const width = Math.ceil(steps / BARS_MAX) * stepMs;
  const bars = Array.from({ length: Math.ceil((steps * stepMs) / width) }, (_, index) => {
    const from = first + index * width;
    return { from, to: from + width, created: 0, failed: 0 };
  });
  for (const { time, created, error, timeout } of points) {
    const bar = bars[Math.floor((Date.parse(time) - first) / width)];
    if (!bar) continue;
    bar.created += created;
    bar.failed += error + timeout;
  }
  return bars;
}
