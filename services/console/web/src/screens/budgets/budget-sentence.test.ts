import { expect, test } from 'vitest';
import { budgetSentence, countedWords, presentWords } from './budget-sentence.ts';

const OF_EACH = { subject: 'creator', subject_id: null, period: 'day', tokens_max: 100_000, runs_max: null } as const;

test('a budget is a sentence of its caps, its period and whose use is counted', () => {
  expect(budgetSentence(OF_EACH)).toBe('100,000 tokens a day for each creator');
  expect(budgetSentence({ ...OF_EACH, runs_max: 1, period: 'hour' })).toBe(
    '100,000 tokens and 1 run an hour for each creator',
  );
  const ofDeployment = { ...OF_EACH, subject: 'deployment', period: 'month', tokens_max: null, runs_max: 2 } as const;
  expect(budgetSentence(ofDeployment)).toBe('2 runs a month for the deployment');
});

test('one who has a budget alone is called by name, and by id where nobody knows a name', () => {
  const ofOne = { subject: 'creator', subject_id: 'ada@example.com' } as const;
  expect(countedWords(ofOne)).toBe('creator ada@example.com');
  expect(countedWords(ofOne, 'Ada')).toBe('creator Ada');
  expect(countedWords({ subject: 'key', subject_id: null }, 'Ada')).toBe('each key');
});

test('the present period is called as people call it', () => {
  expect((['hour', 'day', 'month'] as const).map(presentWords)).toEqual(['this hour', 'today', 'this month']);
});
