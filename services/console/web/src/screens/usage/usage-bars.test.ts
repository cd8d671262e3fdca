import type { Usage } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { barLabel, usageBars } from './usage-bars.ts';
import { barsRequest, readUsageChoice, tableRequest } from './usage-choice.ts';

const NOW = Date.parse('2026-03-05T10:30:00Z');
const rows = (...given: [string, number][]) =>
  given.map(([time, total_tokens]) => ({ time, total_tokens })) as Usage['rows'];

test('times without usage have a bar too, up to now', () => {
  const request = barsRequest({ range: 'week' }, NOW);
  const bars = usageBars(rows(['2026-03-01T00:00:00.000Z', 7]), request, NOW);
  expect(bars.map((bar) => barLabel(bar, 'day'))).toEqual(
    ['02-27', '02-28', '03-01', '03-02', '03-03', '03-04', '03-05'].map((day) => `2026-${day}`),
  );
  expect(bars.map(({ tokens }) => tokens)).toEqual([0, 0, 7, 0, 0, 0, 0]);
});

test('months differ in length, and each has its bar', () => {
  const bars = usageBars(rows(['2026-02-01T00:00:00.000Z', 5]), barsRequest({ range: 'year' }, NOW), NOW);
  expect(bars).toHaveLength(13);
  expect(bars.map((bar) => barLabel(bar, 'month')).slice(-3)).toEqual(['2026-01', '2026-02', '2026-03']);
  expect(bars.at(-2)!.tokens).toBe(5);
});

test('bars and table are of the same time, and of the chosen deployment', () => {
  const deployment = 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03';
  const choice = { range: 'today', by: 'key', deployment } as const;
  const [bars, table] = [barsRequest(choice, NOW), tableRequest(choice, NOW)];
  expect([bars.start_time, table.start_time]).toEqual(['2026-03-05T00:00:00.000Z', '2026-03-05T00:00:00.000Z']);
  expect([bars.step, table.step, table.group_by]).toEqual(['hour', 'all', ['key']]);
  expect(table.deployment_ids).toEqual([deployment]);
});

test('parts of an address that are none are left out', () => {
  expect(readUsageChoice({ range: 'toString', by: 'model', deployment: 'x' })).toEqual({ by: 'model' });
});
