import { randomUUID } from 'node:crypto';
import type { JournalRunDetail, RunEvent, RunStatistics, Usage } from '@runyard/contracts';
import { OTHER_WORKSPACE } from '@runyard/test-kit/callers';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEvent, TestHistory, type ToldRun } from './support/history.ts';

let history: TestHistory;
beforeAll(async () => {
  history = await TestHistory.start();
});
afterAll(() => history.close());

const model = (name: string, calls: number, more: object = {}) => ({
  provider: 'openai',
  model: name,
  calls,
  failed: 0,
  input_tokens: 100 * calls,
  output_tokens: 10 * calls,
  cache_read_tokens: 0,
  cache_creation_tokens: 0,
  reasoning_tokens: 0,
  ...more,
});
const look = (calls: number) => ({ name: 'look', calls, failed: 0 });

function usedBy(run: ToldRun, attempt: number, calls: number, afterMs = 50): RunEvent {
  return runEvent(run, 'used', { attempt, models: [model('small', calls)], tools: [look(calls)] }, afterMs);
}

/** Makes the events of a run that has called a model and a tool so often. */
function callingRun(run: ToldRun, calls: number, creation: object = {}): RunEvent[] {
  return [
    runEvent(run, 'created', { graph_id: 'agent', ...creation }),
    runEvent(run, 'started', { attempt: 1 }, 10),
    usedBy(run, 1, calls),
    runEvent(run, 'finished', { attempt: 1, status: 'success' }, 100),
  ];
}

const START = () => new Date(Date.now() - 3_600_000).toISOString();

async function usageOf(deploymentId: string, request: object = {}, as = {}): Promise<Usage> {
  const body = { start_time: START(), step: 'all', deployment_ids: [deploymentId], ...request };
  const answer = await history.call<Usage>('POST', '/v2/runs/usage', { body, as });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
}

it('a run shows what all its attempts have used, by model and by tool', async () => {
  const run = history.newRun(await history.addDeployment());
  await history.publish(
    runEvent(run, 'created', { graph_id: 'agent' }),
    runEvent(run, 'started', { attempt: 1 }, 10),
    usedBy(run, 1, 1),
    usedBy(run, 1, 2),
    runEvent(run, 'retried', { attempt: 1, reason: 'worker_lost' }, 60),
    runEvent(run, 'started', { attempt: 2 }, 70),
    runEvent(run, 'used', { attempt: 2, models: [model('small', 1), model('large', 3)], tools: [] }, 80),
    runEvent(run, 'finished', { attempt: 2, status: 'success' }, 90),
  );
  const [found] = await history.waitForRuns(1, { deployment_ids: [run.deploymentId], statuses: ['success'] });
  const usage = { model_calls: 6, tool_calls: 2, input_tokens: 600, output_tokens: 60, total_tokens: 660 };
  expect(found!.usage).toEqual(usage);
  const { body } = await history.call<JournalRunDetail>('GET', `/v2/runs/${run.runId}`);
  expect(body).toMatchObject({ usage, models: [model('small', 3), model('large', 3)], tools: [look(2)] });
  const total = (ids: string[]) =>
    history.call<RunStatistics>('POST', '/v2/runs/statistics', {
      body: { start_time: START(), step: 'minute', deployment_ids: ids },
    });
  expect((await total([run.deploymentId])).body.total).toMatchObject({ input_tokens: 600, output_tokens: 60 });
});

it('usage counts once, although its events come twice, late, or the older after the newer', async () => {
  const deploymentId = await history.addDeployment();
  const run = history.newRun(deploymentId);
  const [created, started, used, finished] = callingRun(run, 3) as [RunEvent, RunEvent, RunEvent, RunEvent];
  await history.publish(created, started, used, finished);
  // Other ids stand for a crash: the memory of the process knows none of them.
  const again = [created, started, usedBy(run, 1, 1), used, finished].map((event) => ({ ...event, id: randomUUID() }));
  await history.publish(...again, ...callingRun(history.newRun(deploymentId), 1));
  await history.waitForRuns(2, { deployment_ids: [deploymentId], statuses: ['success'] });
  const { total } = await usageOf(deploymentId);
  expect(total).toMatchObject({ runs: 2, model_calls: 4, tool_calls: 4, input_tokens: 400, output_tokens: 40 });
});

describe('usage', () => {
  const [ada, end] = [
    { kind: 'personal_token', identity: 'ada', key_id: 'key-1' },
    { kind: 'project_user', identity: '=2+5' },
  ];
  let deploymentId: string;
  let assistantId: string;
  beforeAll(async () => {
    deploymentId = await history.addDeployment();
    const runs = [0, 1, 2].map(() => history.newRun(deploymentId));
    assistantId = runs[0]!.assistantId;
    await history.publish(
      ...callingRun(runs[0]!, 1, { creator: ada }),
      ...callingRun(runs[1]!, 2, { creator: ada }),
      ...callingRun(runs[2]!, 4, { creator: end }),
    );
    await history.waitForRuns(3, { deployment_ids: [deploymentId], statuses: ['success'] });
  });

  it('is told apart by who made the runs, the most tokens first', async () => {
    const { rows, total } = await usageOf(deploymentId, { group_by: ['creator', 'key'] });
    expect(rows).toMatchObject([
      { time: null, creator: { kind: 'project_user', identity: '=2+5' }, key_id: null, runs: 1, total_tokens: 440 },
      { creator: { kind: 'personal_token', identity: 'ada' }, key_id: 'key-1', runs: 2, total_tokens: 330 },
    ]);
    expect(total).toMatchObject({ runs: 3, model_calls: 7, tool_calls: 7, total_tokens: 770 });
  });

  it('is told apart by model, where runs and calls of tools have a row of their own', async () => {
    const { rows } = await usageOf(deploymentId, { group_by: ['model'] });
    expect(rows).toMatchObject([
      { model: { provider: 'openai', model: 'small' }, runs: 0, tool_calls: 0, model_calls: 7 },
      { model: null, runs: 3, tool_calls: 7, model_calls: 0, total_tokens: 0 },
    ]);
  });

  it('is summed up by hours, days and months, and only of what was selected', async () => {
    for (const step of ['hour', 'day', 'month']) {
      const { rows } = await usageOf(deploymentId, { step });
      expect(rows.map(({ runs }) => runs).reduce((sum, each) => sum + each)).toBe(3);
      expect(rows.every(({ time }) => time?.endsWith(':00:00.000Z'))).toBe(true);
    }
    expect((await usageOf(deploymentId, { assistant_ids: [assistantId] })).total.runs).toBe(1);
    expect((await usageOf(deploymentId, { creators: ['ada'] })).total.runs).toBe(2);
    expect((await usageOf(deploymentId, { key_ids: ['key-2'] })).rows).toEqual([]);
    expect((await usageOf(deploymentId, { models: ['small'] })).total).toMatchObject({ runs: 0, model_calls: 7 });
    const first = await usageOf(deploymentId, { group_by: ['creator'], limit: 1 });
    expect([first.rows.length, first.is_complete, first.total.runs]).toEqual([1, false, 3]);
  });

  it('is a file that a spreadsheet takes for no formula', async () => {
    const body = { start_time: START(), step: 'all', group_by: ['creator'], deployment_ids: [deploymentId] };
    const answer = await fetch(`${history.service.url}/v2/runs/usage/csv`, {
      method: 'POST',
      headers: await history.callers.headers({ permissions: ['runs:read'] }),
      body: JSON.stringify(body),
    });
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
    const [head, first, second, ...rest] = (await answer.text()).split('\r\n');
    expect(head).toMatch(/^creator_kind,creator,runs,model_calls,tool_calls,input_tokens,.*,total_tokens$/);
    expect(first).toMatch(/^project_user,'=2\+5,1,4,4,400,40,/);
    expect(second).toMatch(/^personal_token,ada,2,3,3,300,30,/);
    expect(rest).toEqual(['']);
  });

  it('of one workspace is hidden from the others, and asks for no time that ends before it begins', async () => {
    const other = { workspace_id: OTHER_WORKSPACE };
    expect((await usageOf(deploymentId, {}, other)).total.runs).toBe(0);
    const body = { start_time: START(), end_time: '2020-01-01T00:00:00Z', step: 'day' };
    expect((await history.call('POST', '/v2/runs/usage', { body })).status).toBe(422);
    const denied = await history.call('POST', '/v2/runs/usage', {
      body: { start_time: START(), step: 'day' },
      as: { permissions: [] },
    });
    expect(denied.status).toBe(403);
  });
});

it('searches find runs by the tokens that they have used', async () => {
  const deploymentId = await history.addDeployment();
  const [small, large] = [history.newRun(deploymentId), history.newRun(deploymentId)];
  await history.publish(...callingRun(small, 1), ...callingRun(large, 9));
  await history.waitForRuns(2, { deployment_ids: [deploymentId], statuses: ['success'] });
  const found = await history.search({ deployment_ids: [deploymentId], min_total_tokens: 500 });
  expect(found.map(({ run_id }) => run_id)).toEqual([large.runId]);
});

it('an event with numbers that no attempt has is left out', async () => {
  const deploymentId = await history.addDeployment();
  const run = history.newRun(deploymentId, { runId: uuidv7() });
  const [created, started, , finished] = callingRun(run, 1) as [RunEvent, RunEvent, RunEvent, RunEvent];
  const used = runEvent(
    run,
    'used',
    { attempt: 1, models: [model('small', 1, { input_tokens: 1e15 })], tools: [] },
    50,
  );
  await history.publish(created, started, used, finished);
  const [found] = await history.waitForRuns(1, { deployment_ids: [deploymentId], statuses: ['success'] });
  expect(found!.usage).toBeNull();
});
