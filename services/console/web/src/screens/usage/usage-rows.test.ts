import type { UsageRow } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { runsOfRow, sumRows } from './usage-rows.ts';

const FROM = '2026-03-01T00:00:00.000Z';
const row = (values: Partial<UsageRow>): UsageRow => ({
  time: null,
  runs: 0,
  model_calls: 0,
  tool_calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cache_read_tokens: 0,
  cache_creation_tokens: 0,
  reasoning_tokens: 0,
  ...values,
});
const model = (provider: string, name: string) => ({ provider, model: name });

test('rows of several hours are one, and the most tokens come first', () => {
  const sums = sumRows(
    [
      row({ time: '2026-03-01T10:00:00.000Z', key_id: 'a', total_tokens: 5, runs: 1 }),
      row({ time: '2026-03-01T10:00:00.000Z', key_id: 'b', total_tokens: 6 }),
      row({ time: '2026-03-01T11:00:00.000Z', key_id: 'a', total_tokens: 3, runs: 2 }),
    ],
    ['key'],
  );
  expect(sums.map(({ key_id, total_tokens, runs, time }) => [key_id, total_tokens, runs, time])).toEqual([
    ['a', 8, 3, null],
    ['b', 6, 0, null],
  ]);
});

test('models of one name are told apart by their providers, and only where models are', () => {
  const rows = [
    row({ key_id: 'a', model: model('openai', 'm'), total_tokens: 1 }),
    row({ key_id: 'a', model: model('azure', 'm'), total_tokens: 2 }),
  ];
  expect(sumRows(rows, ['key', 'model'])).toHaveLength(2);
  expect(sumRows(rows, ['key'])).toMatchObject([{ key_id: 'a', total_tokens: 3 }]);
});

test('a row leads to its runs, of the time and the deployment that are shown', () => {
  const shown = { from: FROM, to: undefined, deployment: 'd' };
  const used = row({ key_id: 'k', model: model('openai', 'm') });
  expect(runsOfRow(used, ['key', 'model'], shown)).toEqual({ deployment: 'd', key: 'k', from: FROM });
  const creator = { kind: 'project_user', identity: 'ada' };
  const until = { from: FROM, to: '2026-03-02T00:00:00.000Z', deployment: undefined };
  expect(runsOfRow(row({ creator }), ['creator'], until)).toEqual({ creator: 'ada', from: FROM, to: until.to });
});

test('a row whose runs no filter finds leads nowhere', () => {
  const shown = { from: FROM, to: undefined, deployment: 'd' };
  expect(runsOfRow(row({ model: model('openai', 'm') }), ['model'], shown)).toBeUndefined();
  expect(runsOfRow(row({ key_id: null }), ['key'], shown)).toBeUndefined();
});
