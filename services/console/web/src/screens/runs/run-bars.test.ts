import type { RunStatistics } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { BARS_MAX, barsOf, rangeOf } from './run-bars.ts';

const NOW = Date.parse('2026-11-20T12:00:30Z');
const point = (time: string, created: number, error = 0) =>
  ({ time, created, error, timeout: 0 }) as RunStatistics['points'][number];

test('every run of an hour is in one bar of its minute, and quiet minutes have bars too', () => {
  const range = rangeOf({ withinMs: 3_600_000, from: undefined, to: undefined }, NOW);
  const bars = barsOf([point('2026-11-20T11:00:00Z', 3, 1), point('2026-11-20T12:00:00Z', 2)], range);
  expect(bars.length).toBeLessThanOrEqual(BARS_MAX);
  expect(bars.at(0)).toMatchObject({ created: 3, failed: 1 });
  expect(bars.at(-1)).toMatchObject({ created: 2, failed: 0 });
  expect(bars.reduce((sum, { created }) => sum + created, 0)).toBe(5);
});

test('a range longer than a day is counted by days, as an answer has no room for its minutes', () => {
  expect(rangeOf({ withinMs: 604_800_000, from: undefined, to: undefined }, NOW).step).toBe('day');
  expect(rangeOf({ withinMs: 86_400_000, from: undefined, to: undefined }, NOW).step).toBe('minute');
});

test('without a range there are bars of thirty days, with the newest last', () => {
  const range = rangeOf({ withinMs: undefined, from: undefined, to: undefined }, NOW);
  const bars = barsOf([point('2026-11-20T00:00:00Z', 7)], range);
  expect(bars).toHaveLength(31);
  expect(bars.at(-1)?.created).toBe(7);
});

test('a range whose end is before its begin has a bar, and no error', () => {
  const range = rangeOf({ withinMs: undefined, from: '2026-11-21T00:00:00Z', to: '2026-11-20T00:00:00Z' }, NOW);
  expect(barsOf([], range)).toHaveLength(1);
});
