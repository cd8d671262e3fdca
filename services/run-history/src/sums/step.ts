/** The length of the time that a row of sums is about. */
export type Step = 'minute' | 'hour' | 'day';

/** How much of a time in ISO 8601 says which step it is in, and what completes that to its start. */
const STARTS: Record<Step, { length: number; end: string }> = {
  minute: { length: 16, end: ':00.000Z' },
  hour: { length: 13, end: ':00:00.000Z' },
  day: { length: 10, end: 'T00:00:00.000Z' },
};

/** Returns the start of the minute, the hour or the day that a time in ISO 8601 is in. */
export function startOfStep(time: string, step: Step): string {
  const { length, end } = STARTS[step];
  return time.slice(0, length) + end;
}
