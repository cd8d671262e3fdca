import { expect, test } from 'vitest';
import { budgetSentence, countedWords, presentWords } from './budget-sentence.ts';

const OF_EACH = {
  subject: 'creator',
  subject_id: null,
  deployment_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  period: 'day',
  tokens_max: 100_000,
  runs_max: null,
} as const;

test('a budget is a sentence of its caps, its period and whose use is counted', () => {
  expect(budgetSentence(OF_EACH)).toBe('100,000 tokens a day for each creator');
  expect(budgetSentence({ ...OF_EACH, runs_max: 1, period: 'hour' })).toBe(
    '100,000 tokens and 1 run an hour for each creator',
  );
  const ofDeployment = { ...OF_EACH, subject: 'deployment', period: 'month', tokens_max: null, runs_max: 2 } as const;
  expect(budgetSentence(ofDeployment)).toBe('2 runs a month for the deployment');
});

test('a budget of the workspace is for all of it together, or for each deployment', () => {
  const terms = { ...OF_EACH, deployment_id: null, period: 'month', tokens_max: 50_000_000 } as const;
  expect(budgetSentence({ ...terms, subject: 'workspace' })).toBe('50,000,000 tokens a month for the workspace');
  expect(budgetSentence({ ...terms, subject: 'deployment' })).toBe('50,000,000 tokens a month for each deployment');
  expect(budgetSentence(terms)).toBe('50,000,000 tokens a month for each creator');
});

test('one who has a budget alone is called by name, and by id where nobody knows a name', () => {
  const ofOne = { ...OF_EACH, subject_id: 'ada@example.com' } as const;
  expect(countedWords(ofOne)).toBe('creator ada@example.com');
  expect(countedWords(ofOne, 'Ada')).toBe('creator Ada');
  expect(countedWords({ ...OF_EACH, subject: 'key' }, 'Ada')).toBe('each key');
});

test('the present period is called as people call it', () => {
  expect((['hour', 'day', 'month'] as const).map(presentWords)).toEqual(['this hour', 'today', 'this month']);
});
