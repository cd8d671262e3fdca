import type { Budget } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { creationOf, draftOf, EMPTY, faultsOfDraft, patchOf, readCap } from './budget-draft.ts';

const BUDGET: Budget = {
  id: '0192f7a0-0000-7000-8000-000000000051',
  deployment_id: '0192f7a0-0000-7000-8000-000000000001',
  name: 'Tokens of an end user',
  subject: 'creator',
  subject_id: null,
  period: 'day',
  tokens_max: 100_000,
  runs_max: 20,
  mode: 'enforced',
  refusal_status: 429,
  created_by: '33333333-0000-4000-8000-000000000001',
  created_at: '2026-12-01T10:00:00.000Z',
  updated_at: '2026-12-01T10:00:00.000Z',
  is_reached: true,
  message: null,
};

test('a cap is a whole number, typed as pages show it or without commas', () => {
  expect(['', ' 7 ', '100,000', '1000000'].map(readCap)).toEqual([null, 7, 100_000, 1_000_000]);
  for (const text of ['0', '-1', '1.5', '1e3', '1,5', '10,00', 'many', '1000000000001'])
    expect([text, readCap(text)]).toEqual([text, undefined]);
});

test('a budget needs a name, and a cap at least', () => {
  expect([...faultsOfDraft(EMPTY).keys()]).toEqual(['name', 'tokensMax']);
  expect([...faultsOfDraft({ ...EMPTY, name: 'a', tokensMax: 'x' }).keys()]).toEqual(['tokensMax']);
  expect(faultsOfDraft({ ...EMPTY, name: 'a', runsMax: '2' }).size).toBe(0);
});

test('only the caps that were typed are asked for, and the id of one only where one can have it alone', () => {
  const draft = { ...EMPTY, name: ' Runs ', runsMax: '2', subjectId: ' ada@example.com ' };
  expect(creationOf(draft)).toEqual({
    name: 'Runs',
    subject: 'creator',
    subject_id: 'ada@example.com',
    period: 'day',
    runs_max: 2,
    mode: 'enforced',
    refusal_status: 429,
  });
  for (const subject of ['deployment', 'workspace'] as const)
    expect(creationOf({ ...draft, subject })).not.toHaveProperty('subject_id');
});

test('only what differs is changed, and a cap that was emptied is null', () => {
  expect(patchOf(BUDGET, draftOf(BUDGET))).toEqual({});
  expect(patchOf(BUDGET, { ...draftOf(BUDGET), runsMax: '', refusalStatus: 402 })).toEqual({
    runs_max: null,
    refusal_status: 402,
  });
});
