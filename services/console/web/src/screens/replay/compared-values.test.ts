import type { Run } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { describeDifference, namesWithCounts, sameness, settingsOf } from './compared-values.ts';

const run = (configurable: object, kwargs: object = {}) =>
  ({ kwargs: { input: { a: 1 }, command: null, config: { configurable }, ...kwargs } }) as unknown as Run;

test('a difference has its sign, and a part of the original where that is not nothing', () => {
  expect(describeDifference(200, 300, (ms) => `${ms} ms`)).toBe('+100 ms (+50 %)');
  expect(describeDifference(200, 100, String)).toBe('−100 (−50 %)');
  expect(describeDifference(0, 3, String)).toBe('+3');
  expect(describeDifference(3, 3, String)).toBe('the same');
  expect(describeDifference(null, 3, String)).toBeUndefined();
});

test('configurations are the same whatever their order is and the platform adds', () => {
  const [one, other] = [settingsOf(run({ x: 1, y: 2, run_id: 'r' })), settingsOf(run({ y: 2, x: 1, run_id: 's' }))];
  expect(sameness(one?.configuration, other?.configuration)).toBe('the same');
  expect(sameness(one?.configuration, settingsOf(run({ x: 2 }))?.configuration)).toBe('another');
  expect(sameness(one?.configuration, settingsOf(null)?.configuration)).toBeUndefined();
});

test('the answer to a question is the input of its run', () => {
  expect(settingsOf(run({}, { input: null, command: { resume: 'yes' } }))?.input).toEqual({ resume: 'yes' });
});

test('names stand with their numbers', () => {
  expect(
    namesWithCounts([
      ['weather', 2],
      ['search', 1],
    ]),
  ).toBe('weather 2×, search 1×');
});
