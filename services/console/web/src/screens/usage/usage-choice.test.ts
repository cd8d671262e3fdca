import { expect, test } from 'vitest';
import {
  barsRequest,
  daysOf,
  fileRequest,
  groupsOf,
  modelsRequest,
  periodOf,
  readUsageChoice,
  seriesRequest,
  tableRequest,
  type UsageChoice,
} from './usage-choice.ts';

const NOW = Date.parse('2026-03-05T10:30:00Z');
const ID = 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03';
const stepOf = (choice: UsageChoice) => periodOf(choice, NOW).step;

test('a choice comes back from an address as it was put there', () => {
  const choice: UsageChoice = { range: 'week', by: 'key', and: 'model', deployment: ID, model: 'gpt-5-mini' };
  expect(readUsageChoice({ ...choice })).toEqual(choice);
  const own: UsageChoice = { from: '2026-01-01', to: '2026-02-28' };
  expect(readUsageChoice({ ...own, range: 'week' })).toEqual(own);
});

test('parts of an address that are none are left out', () => {
  expect(readUsageChoice({ range: 'toString', by: 'model', and: 7, deployment: 'x', model: '' })).toEqual({
    by: 'model',
  });
  expect(readUsageChoice({ from: '2026-02-30', to: 'today', model: 4 })).toEqual({ model: '4' });
});

test('usage is told apart by a second field only where it is another', () => {
  expect(groupsOf({})).toEqual(['model']);
  expect(groupsOf({ by: 'key', and: 'key' })).toEqual(['key']);
  expect(groupsOf({ by: 'key', and: 'model' })).toEqual(['key', 'model']);
});

test('bars, table and file are of the same time, deployment and model', () => {
  for (const range of ['day', 'week', 'year'] as const) {
    const choice: UsageChoice = { range, by: 'key', deployment: ID, model: 'm' };
    const [bars, ...others] = [barsRequest, tableRequest, fileRequest].map((request) => request(choice, NOW));
    for (const { step: _, group_by: __, ...other } of others) expect(bars).toMatchObject({ ...other, limit: 1_000 });
    expect(bars).toMatchObject({ deployment_ids: [ID], models: ['m'] });
  }
});

test('the last 24 hours are read by hours, since a sum of all would be that of whole days', () => {
  const { start_time: start, step, limit } = tableRequest({ range: 'day' }, NOW);
  expect([start, step, limit]).toEqual(['2026-03-04T11:00:00.000Z', 'hour', 1_000]);
  expect(tableRequest({ range: 'week' }, NOW)).toMatchObject({ start_time: '2026-02-27T00:00:00.000Z', step: 'all' });
});

test('days of one’s own count whole, in either order, and end now at the latest', () => {
  const { start, end } = periodOf({ from: '2026-02-10', to: '2026-02-01' }, NOW);
  expect([start, end]).toEqual([Date.parse('2026-02-01'), Date.parse('2026-02-11')]);
  expect(daysOf({ start, end, step: 'day' })).toEqual({ from: '2026-02-01', to: '2026-02-10' });
  expect(periodOf({ from: '2026-03-05' }, NOW).end).toBe(NOW);
  const later = periodOf({ from: '2026-04-01', to: '2026-04-01' }, NOW);
  expect(later.end).toBeGreaterThan(later.start);
});

test('a time of one’s own has hours while these are kept, then days, and months where it is long', () => {
  expect(stepOf({ from: '2026-03-04', to: '2026-03-05' })).toBe('hour');
  expect(stepOf({ from: '2025-12-04', to: '2025-12-05' })).toBe('day');
  expect(stepOf({ from: '2025-01-01', to: '2026-03-05' })).toBe('month');
});

test('the parts of the bars are asked for by the values of the first group', () => {
  const request = seriesRequest({ by: 'deployment', and: 'model', deployment: ID }, NOW, [ID]);
  expect(request).toMatchObject({ group_by: ['deployment'], deployment_ids: [ID], step: 'day' });
});

test('one chooses among the models of the time, whichever is chosen', () => {
  expect(modelsRequest({ model: 'm', deployment: ID }, NOW)).toMatchObject({ group_by: ['model'], step: 'all' });
  expect(modelsRequest({ model: 'm' }, NOW)).not.toHaveProperty('models');
});
