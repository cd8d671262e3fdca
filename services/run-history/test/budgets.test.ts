import { randomUUID } from 'node:crypto';
import { BudgetsChanged, type RunEvent, type SummedBudget } from '@runyard/contracts';
import { makeEvent } from '@runyard/event-bus';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { ORGANIZATION, OTHER_WORKSPACE, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runEvent, TestHistory } from './support/history.ts';

let history: TestHistory;
beforeAll(async () => {
  history = await TestHistory.start();
});
afterAll(() => history.close());
afterEach(async () => {
  history.controlPlane.isUnavailable = false;
  await haveBudgets([]);
  history.controlPlane.exhausted.splice(0);
});

const rows = async (text: string): Promise<Record<string, unknown>[]> =>
  (await withDatabaseClient(history.database.url, (client) => client.query(text))).rows;

const aBudget = (terms: Partial<SummedBudget>): SummedBudget => ({
  ...{ id: randomUUID(), organization_id: ORGANIZATION, workspace_id: WORKSPACE, name: 'team' },
  ...{ subject: 'workspace', subject_id: null, period: 'month', tokens_max: null, runs_max: null },
  ...{ mode: 'enforced', refusal_status: 429 },
  ...terms,
});

/** Makes these the budgets of control-plane, and waits until the journal has them. */
async function haveBudgets(budgets: SummedBudget[]): Promise<void> {
  history.controlPlane.budgets = budgets;
  const data = { organization_id: ORGANIZATION, workspace_id: WORKSPACE };
  const event = makeEvent(BudgetsChanged, { source: '/test', subject: WORKSPACE, data });
  await history.bus.publish('deployments', [{ key: WORKSPACE, event }]);
  const caps = budgets.map(({ id, tokens_max, runs_max }) => [id, tokens_max, runs_max]).sort();
  const stored = async () =>
    (await rows('SELECT budget_id, tokens_max::float8, runs_max::float8 FROM budget'))
      .map((row) => Object.values(row))
      .sort();
  await waitFor(async () => JSON.stringify(await stored()) === JSON.stringify(caps), { what: 'the budgets' });
}

/** Publishes a run of somebody that has used so many tokens. */
async function use(deploymentId: string, tokens: number, creator: object = {}): Promise<RunEvent[]> {
  const run = history.newRun(deploymentId);
  const model = { provider: 'p', model: 'm', calls: 1, failed: 0, input_tokens: tokens, output_tokens: 0 };
  const rest = { cache_read_tokens: 0, cache_creation_tokens: 0, reasoning_tokens: 0 };
  const by = { creator: { kind: 'service_key', identity: 'ada', key_id: 'k1', ...creator } };
  const events = [
    runEvent(run, 'created', { graph_id: 'agent', ...by }),
    runEvent(run, 'used', { attempt: 1, models: [{ ...model, ...rest }], tools: [] }, 10),
  ];
  await history.publish(...events);
  const stored = `SELECT 1 FROM run WHERE run_id = '${run.runId}' AND input_tokens = ${tokens}`;
  await waitFor(async () => (await rows(stored)).length > 0, { what: 'the run in the journal' });
  return events;
}

const told = (count: number) =>
  waitFor(() => history.controlPlane.exhausted.length >= count && [...history.controlPlane.exhausted], {
    what: 'control-plane to be told',
  });
const month = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth())).toISOString();

it('what several deployments use together is summed up, and control-plane is told once when it is too much', async () => {
  const budget = aBudget({ tokens_max: 100 });
  await haveBudgets([budget]);
  const [one, other] = [await history.addDeployment(), await history.addDeployment()];
  const events = await use(one, 60);
  await use(await history.addDeployment(OTHER_WORKSPACE), 1_000);
  expect(history.controlPlane.exhausted).toEqual([]);
  await use(other, 60);
  const entry = { budget_id: budget.id, subject_id: '', start: month, measure: 'tokens', max: 100 };
  expect(await told(1)).toEqual([entry]);
  // An event that comes again adds nothing, and what is more than enough is no news.
  await history.publish(...events);
  await use(one, 60);
  expect(await rows('SELECT tokens::int, runs::int FROM budget_use')).toEqual([{ tokens: 180, runs: 3 }]);
  expect(history.controlPlane.exhausted).toEqual([entry]);
});

it('each creator, or key, has its own sum, and one of them alone where the budget names it', async () => {
  const budgets = [
    aBudget({ subject: 'creator', runs_max: 2 }),
    aBudget({ subject: 'key', subject_id: 'k2', tokens_max: 5 }),
  ];
  await haveBudgets(budgets);
  const deployment = await history.addDeployment();
  await use(deployment, 10, { identity: 'ada' });
  await use(deployment, 10, { identity: 'bob', key_id: 'k2' });
  await use(deployment, 10, { identity: 'ada' });
  expect((await told(2)).map(({ subject_id, measure }) => [subject_id, measure]).sort()).toEqual([
    ['ada', 'runs'],
    ['k2', 'tokens'],
  ]);
});

it('tokens that are used up are told although the runs were before: they stop what runs', async () => {
  await haveBudgets([aBudget({ runs_max: 1, tokens_max: 15 })]);
  const deployment = await history.addDeployment();
  await use(deployment, 10);
  expect(await told(1)).toMatchObject([{ measure: 'runs' }]);
  await use(deployment, 10);
  expect(await told(2)).toMatchObject([{ measure: 'runs' }, { measure: 'tokens' }]);
});

it('what control-plane could not take is told when it is back, also after a restart', async () => {
  await haveBudgets([aBudget({ runs_max: 1 })]);
  const deployment = await history.addDeployment();
  await use(deployment, 1);
  await told(1);
  history.controlPlane.exhausted.splice(0);
  await haveBudgets([aBudget({ runs_max: 2 })]);
  await use(deployment, 1);
  history.controlPlane.isUnavailable = true;
  await use(deployment, 1);
  await history.stopService();
  history.controlPlane.isUnavailable = false;
  await history.startService();
  expect(await told(1)).toMatchObject([{ measure: 'runs', max: 2 }]);
});

it('a cap that changes is compared with what was used before', async () => {
  const budget = aBudget({ tokens_max: 1_000 });
  await haveBudgets([budget]);
  await use(await history.addDeployment(), 100);
  await haveBudgets([{ ...budget, tokens_max: 50 }]);
  expect(await told(1)).toMatchObject([{ measure: 'tokens', max: 50 }]);
  await haveBudgets([{ ...budget, tokens_max: 80 }]);
  expect(await told(2)).toMatchObject([{ max: 50 }, { max: 80 }]);
  await haveBudgets([{ ...budget, tokens_max: 500 }]);
  expect(await rows('SELECT tokens::int, untold FROM budget_use')).toEqual([{ tokens: 100, untold: null }]);
});
