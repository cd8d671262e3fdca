import { type Budget, createBudget } from '@runyard/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runyard } from './support/command.ts';
import { API_KEY, FakeControlPlaneApi } from './support/control-plane.ts';

const budgetId = '0192f7a0-0000-7000-8000-000000000051';
const example = createBudget.responses[201]?.example as Budget;

let platform: FakeControlPlaneApi;
beforeEach(async () => {
  platform = await new FakeControlPlaneApi().open();
});
afterEach(async () => {
  expect(platform.violations).toEqual([]);
  await platform.close();
});

const budgets = (...words: string[]) =>
  runyard(['deploy', 'budgets', ...words], { env: { RUNYARD_URL: platform.url, RUNYARD_API_KEY: API_KEY } });

/** Lists one budget, and returns the cells of its row. */
async function rowOf(budget: Partial<Budget>): Promise<string[]> {
  platform.fail('GET', /\/budgets$/, { status: 200, body: { budgets: [{ ...example, ...budget }] } });
  const { exitCode, out } = await budgets('list', '--workspace');
  expect(exitCode).toBe(0);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(3);
  return (lines[2] ?? '').split(/ {2,}/);
}

describe('the table of budgets says', () => {
  it.each<[string, Partial<Budget>]>([
    ['the deployment', { subject: 'deployment' }],
    ['each deployment', { subject: 'deployment', deployment_id: null }],
    ['the workspace', { subject: 'workspace', deployment_id: null }],
    ['each key', { subject: 'key' }],
    ['creator ada', { subject: 'creator', subject_id: 'ada' }],
  ])('whose use is counted: %s', async (counted, budget) => {
    expect((await rowOf(budget))[2]).toBe(counted);
  });

  it.each<[string, Partial<Budget>]>([
    ['50 runs a day', { tokens_max: null, runs_max: 50 }],
    ['100,000 tokens and 50 runs an hour', { runs_max: 50, period: 'hour' }],
  ])('how much of it there may be: %s', async (caps, budget) => {
    expect((await rowOf(budget))[3]).toBe(caps);
  });

  it.each<[string, Partial<Budget>]>([
    ['yes', {}],
    ['no', { is_reached: false }],
    ['no: its image is too old', { is_reached: false, message: 'its image is too old' }],
  ])('whether each deployment has it: %s', async (reached, budget) => {
    expect((await rowOf(budget))[6]).toBe(reached);
  });

  it('nothing that a terminal obeys, in one line for each budget', async () => {
    const row = await rowOf({
      name: 'a\u009b2Jb',
      subject_id: 'ada\u001b[31m\nlovelace',
      is_reached: false,
      message: 'too\nold\u0007',
    });
    expect(row.slice(1)).toEqual([
      'ab',
      'creator ada lovelace',
      '100,000 tokens a day',
      'enforced',
      '429',
      'no: too old',
    ]);
  });
});

describe('a budget that is made or changed', () => {
  it('is shown with the reason why a deployment does not have it yet, as nothing that a terminal obeys', async () => {
    const body = { ...example, name: 'Us\u009b2Jers', is_reached: false, message: 'too\nold' };
    platform.fail('PATCH', /\/budgets\//, { status: 200, body });
    expect(await budgets('change', budgetId, '--workspace', '--mode', 'shadow')).toMatchObject({
      exitCode: 0,
      out: `The budget Users (${budgetId}) is changed: 100,000 tokens a day, each creator.\nNot in force yet: too old\n`,
    });
  });

  it('is refused before any request when both of its caps are removed', async () => {
    expect(await budgets('change', budgetId, '--workspace', '--tokens', 'none', '--runs', 'none')).toMatchObject({
      exitCode: 2,
      err: 'A budget caps something: keep --tokens, --runs or both, or remove it.\n',
    });
    expect(platform.asked).toEqual([]);
  });

  it.each([
    ['add', ['--name', 'x', '--per', 'key', '--period', 'day', '--runs', '5'], 'POST'],
    ['change', [budgetId, '--runs', '5'], 'PATCH'],
    ['remove', [budgetId], 'DELETE'],
    ['list', [], 'GET'],
  ] as const)('ends with the words of the platform that refuses it: %s', async (command, words, method) => {
    platform.fail(method, /\/budgets/, { status: 404, body: { detail: 'It was not found.' } });
    expect(await budgets(command, ...words, '--workspace')).toMatchObject({
      exitCode: 4,
      out: '',
      err: 'It was not found.\n',
    });
  });
});
