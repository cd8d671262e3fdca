import { expect, test } from 'vitest';
import { type BudgetPeriod, endOfPeriod, startOfPeriod } from './budget-period.ts';

const around = (period: BudgetPeriod, moment: string) =>
  [startOfPeriod, endOfPeriod].map((turn) => new Date(turn(period, Date.parse(moment))).toISOString());

test('an hour, a day and a month begin and end in UTC', () => {
  const moment = '2026-11-20T23:59:59.999+05:30';
  expect(around('hour', moment)).toEqual(['2026-11-20T18:00:00.000Z', '2026-11-20T19:00:00.000Z']);
  expect(around('day', moment)).toEqual(['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z']);
  expect(around('month', moment)).toEqual(['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z']);
});

test('the last hour of a year ends with the year, and a February with its last day', () => {
  const newYear = '2027-01-01T00:00:00.000Z';
  for (const period of ['hour', 'day', 'month'] as const) expect(around(period, '2026-12-31T23:30Z')[1]).toBe(newYear);
  expect(around('month', '2028-02-29T12:00Z')).toEqual(['2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z']);
});

test('the moment in which a period begins belongs to it', () => {
  expect(around('day', '2026-11-20T00:00Z')).toEqual(['2026-11-20T00:00:00.000Z', '2026-11-21T00:00:00.000Z']);
});
