import type { UsageRow } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { measuresOf, shareOf, topUsers, usageRequestOf, usedWords } from './budget-use.ts';

const DEPLOYMENT = 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03';
const NOW = Date.parse('2026-03-05T10:30:00Z');
const terms = { subject: 'creator', subject_id: null, deployment_id: DEPLOYMENT, period: 'day' } as const;
const DAY = { start_time: '2026-03-05T00:00:00.000Z', end_time: '2026-03-06T00:00:00.000Z', step: 'all', limit: 200 };
const ofCreator = (identity: string, tokens: number, runs: number, kind = 'project_user') =>
  ({ creator: { kind, identity }, total_tokens: tokens, runs }) as UsageRow;

test('what each has used is asked for by subject, and what one has used by its id', () => {
  const day = { ...DAY, deployment_ids: [DEPLOYMENT] };
  expect(usageRequestOf(terms, NOW)).toEqual({ ...day, group_by: ['creator'] });
  expect(usageRequestOf({ ...terms, subject: 'key', subject_id: 'k' }, NOW)).toEqual({ ...day, key_ids: ['k'] });
  expect(usageRequestOf({ ...terms, subject: 'deployment' }, NOW)).toEqual(day);
});

test('of budgets of the workspace the use of all deployments is asked for, or that of each', () => {
  const ofWorkspace = { ...terms, deployment_id: null };
  expect(usageRequestOf({ ...ofWorkspace, subject: 'workspace' }, NOW)).toEqual(DAY);
  expect(usageRequestOf({ ...ofWorkspace, subject: 'deployment' }, NOW)).toEqual({ ...DAY, group_by: ['deployment'] });
  expect(usageRequestOf(ofWorkspace, NOW)).toEqual({ ...DAY, group_by: ['creator'] });
  expect(usageRequestOf({ ...ofWorkspace, subject_id: 'ada' }, NOW)).toEqual({ ...DAY, creators: ['ada'] });
});

test('an hour is read by hours, since a sum of all would be that of the day', () => {
  expect(usageRequestOf({ ...terms, period: 'hour' }, NOW)).toMatchObject({
    start_time: '2026-03-05T10:00:00.000Z',
    end_time: '2026-03-05T11:00:00.000Z',
    step: 'hour',
  });
});

test('an assistant is asked for only by what can be its id', () => {
  expect(usageRequestOf({ ...terms, subject: 'assistant', subject_id: 'echo' }, NOW)).toBeUndefined();
  expect(usageRequestOf({ ...terms, subject: 'assistant', subject_id: DEPLOYMENT }, NOW)).toMatchObject({
    assistant_ids: [DEPLOYMENT],
  });
});

test('a budget is used up as far as the cap of it that is reached first', () => {
  const measures = measuresOf({ tokens_max: 1_000, runs_max: 4 }, { total_tokens: 100, runs: 3 });
  expect(shareOf(measures)).toBe(0.75);
  expect(measures.map(usedWords)).toEqual(['100 of 1,000 tokens (10 %)', '3 of 4 runs (75 %)']);
  expect(measuresOf({ tokens_max: null, runs_max: 4 }, { total_tokens: 100, runs: 3 })).toHaveLength(1);
});

test('only what is used up has 100 %, and only what nobody has touched has 0 %', () => {
  const words = (used: number) => usedWords({ unit: 'tokens', used, max: 1_000 });
  expect([0, 1, 999, 1_000, 12_500].map((used) => /\((.*) %\)/.exec(words(used))![1])).toEqual([
    '0',
    'less than 1',
    '99',
    '100',
    '1,250',
  ]);
});

test('the five who have used the most are shown, and somebody who comes by two ways once', () => {
  const rows = [
    ofCreator('ada', 400, 1, 'session'),
    ofCreator('ada', 300, 1, 'personal_token'),
    ...['b', 'c', 'd', 'e', 'f'].map((name, index) => ofCreator(name, 100 - index, 1)),
    ofCreator('runner', 1, 9),
    ofCreator('', 5_000, 90),
    { ...ofCreator('', 5_000, 90), creator: null },
  ];
  const tops = topUsers(rows, 'creator', { tokens_max: 1_000, runs_max: 10 });
  expect(tops.map(({ id }) => id)).toEqual(['runner', 'ada', 'b', 'c', 'd']);
  expect(tops[1]!.figures).toEqual({ runs: 2, total_tokens: 700 });
});

test('of deployments that have a budget each, those come first that have used the most', () => {
  const ofDeployment = (id: string, tokens: number) =>
    ({ deployment_id: id, total_tokens: tokens, runs: 1 }) as UsageRow;
  const rows = [ofDeployment('a', 10), ofDeployment('b', 30), ofDeployment('c', 0)];
  const tops = topUsers(rows, 'deployment', { tokens_max: 100, runs_max: null });
  expect(tops.map(({ id }) => id)).toEqual(['b', 'a']);
});

test('who has used nothing of what is capped is not among them', () => {
  expect(topUsers([ofCreator('ada', 0, 3)], 'creator', { tokens_max: 1_000, runs_max: null })).toEqual([]);
});
