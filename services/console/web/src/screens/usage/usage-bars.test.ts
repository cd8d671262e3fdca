import type { UsageRow } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { topRows, usageBars } from './usage-bars.ts';
import { periodOf } from './usage-choice.ts';

const NOW = Date.parse('2026-03-05T10:30:00Z');
const row = (time: string | null, key: string | null, tokens: number) =>
  ({ time, key_id: key, total_tokens: tokens, runs: 0 }) as UsageRow;
const alone = (...all: UsageRow[]) => ({ all, series: [], group: 'key', tops: [] }) as const;

test('times without usage have a bar too, up to now', () => {
  const bars = usageBars(periodOf({ range: 'week' }, NOW), alone(row('2026-03-01T00:00:00.000Z', null, 7)));
  expect(bars.map(({ label }) => label)).toEqual(
    ['02-27', '02-28', '03-01', '03-02', '03-03', '03-04', '03-05'].map((day) => `2026-${day}`),
  );
  expect(bars.map(({ values }) => values)).toEqual([[0], [0], [7], [0], [0], [0], [0]]);
});

test('months differ in length, and each has its bar', () => {
  const bars = usageBars(periodOf({ range: 'year' }, NOW), alone(row('2026-02-01T00:00:00.000Z', null, 5)));
  expect(bars).toHaveLength(13);
  expect(bars.map(({ label }) => label).slice(-3)).toEqual(['2026-01', '2026-02', '2026-03']);
  expect(bars.at(-2)!.values).toEqual([5]);
});

test('the hours up to now are 24', () => {
  const bars = usageBars(periodOf({ range: 'day' }, NOW), alone());
  expect([bars.length, bars[0]!.label, bars.at(-1)!.label]).toEqual([24, '03-04 11:00 UTC', '03-05 10:00 UTC']);
});

test('a bar has a part for each shown value, and one for what is left', () => {
  const day = '2026-03-05T00:00:00.000Z';
  const bars = usageBars(periodOf({ range: 'week' }, NOW), {
    all: [row(day, null, 10)],
    series: [row(day, 'b', 3), row(day, 'a', 5)],
    group: 'key',
    tops: [row(null, 'a', 5), row(null, 'b', 3)],
  });
  expect(bars.at(-1)!.values).toEqual([5, 3, 2]);
});

test('values are shown that can be asked for, those with the most tokens', () => {
  const rows = ['a', 'b', null, 'c', 'd', 'e', 'f'].map((key, index) => row(null, key, index));
  expect(topRows(rows, 'key').map(({ key_id }) => key_id)).toEqual(['f', 'e', 'd', 'c']);
});
