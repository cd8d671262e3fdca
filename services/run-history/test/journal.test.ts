import { randomUUID } from 'node:crypto';
import type { RunEvent, RunStatistics } from '@runyard/contracts';
import { waitFor, withDatabaseClient } from '@runyard/test-kit';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runEvent, successOf, TestHistory } from './support/history.ts';

let history: TestHistory;
beforeAll(async () => {
  history = await TestHistory.start();
});
afterAll(() => history.close());

const countOf = async (deploymentId: string) => {
  const body = {
    start_time: new Date(Date.now() - 3_600_000).toISOString(),
    step: 'minute',
    deployment_ids: [deploymentId],
  };
  const answer = await history.call<RunStatistics>('POST', '/v2/runs/statistics', { body });
  return answer.body.total;
};

const metric = async (name: string) => {
  const text = await (await fetch(`${history.service.url}/metrics`)).text();
  return Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
};

it('statistics count each run once, although its events come twice', async () => {
  const deploymentId = await history.addDeployment();
  const [good, bad] = [history.newRun(deploymentId), history.newRun(deploymentId)];
  const events = [
    ...successOf(good, {}, 1000),
    runEvent(bad, 'created', { graph_id: 'agent' }),
    runEvent(bad, 'started', { attempt: 1 }, 10),
    runEvent(bad, 'retried', { attempt: 1, reason: 'failed' }, 20),
    runEvent(bad, 'started', { attempt: 2 }, 30),
    runEvent(bad, 'finished', { attempt: 2, status: 'error', error: { error: 'E', message: '' } }, 40),
  ];
  await history.publish(...events);
  await history.waitForRuns(2, { deployment_ids: [deploymentId] });
  // Other ids stand for a crash: the memory of the process knows none of them.
  const marker = history.newRun(deploymentId);
  await history.publish(...events.map((event) => ({ ...event, id: randomUUID() })), ...successOf(marker));
  await history.waitForRuns(3, { deployment_ids: [deploymentId] });
  const total = await countOf(deploymentId);
  expect(total).toMatchObject({ created: 3, success: 2, error: 1, timeout: 0, interrupted: 0, retried: 1 });
  expect(total.queue_ms.p50).toBeGreaterThanOrEqual(9);
  expect(total.duration_ms.p99).toBeGreaterThan(940);
  expect(total.duration_ms.p99).toBeLessThan(1060);
});

describe('statistics', () => {
  it('have a point for each minute and day with runs, and their sum', async () => {
    const deploymentId = await history.addDeployment();
    const at = Date.now() - 3 * 60_000;
    await history.publish(
      ...successOf(history.newRun(deploymentId, { runId: uuidv7({ msecs: at }) }), { graph_id: 'a' }),
      ...successOf(history.newRun(deploymentId, { runId: uuidv7({ msecs: at + 120_000 }) }), { graph_id: 'b' }),
    );
    await history.waitForRuns(2, { deployment_ids: [deploymentId] });
    const read = async (more: object) => {
      const body = { start_time: new Date(at).toISOString(), deployment_ids: [deploymentId], step: 'minute', ...more };
      return (await history.call<RunStatistics>('POST', '/v2/runs/statistics', { body })).body;
    };
    const minutes = await read({});
    expect(minutes.points.map(({ created, success }) => [created, success])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    expect(minutes.points[0]!.time).toMatch(/:00\.000Z$/);
    expect(minutes.total).toMatchObject({ created: 2, success: 2 });
    expect((await read({ graph_ids: ['b'] })).total.created).toBe(1);
    expect((await read({ step: 'day' })).total.created).toBe(2);
    expect((await read({ end_time: new Date(at + 60_000).toISOString() })).total.created).toBe(1);
  });

  it('of more points than an answer holds, or of none, are refused', async () => {
    for (const body of [
      { start_time: '2020-01-01T00:00:00Z', step: 'minute' },
      { start_time: '2099-01-01T00:00:00Z', step: 'day' },
      { start_time: '2026-01-02T00:00:00Z', end_time: '2026-01-01T00:00:00Z', step: 'day' },
    ]) {
      expect((await history.call('POST', '/v2/runs/statistics', { body })).status).toBe(422);
    }
  });

  it('are those of deployments that the caller may see', async () => {
    const run = history.newRun(await history.addDeployment());
    await history.publish(...successOf(run));
    await history.waitForRuns(1, { deployment_ids: [run.deploymentId] });
    const body = {
      start_time: new Date(Date.now() - 60_000).toISOString(),
      step: 'day',
      deployment_ids: [run.deploymentId],
    };
    const as = { workspace_id: randomUUID() };
    const { body: other } = await history.call<RunStatistics>('POST', '/v2/runs/statistics', { body, as });
    expect([other.points, other.total.created]).toEqual([[], 0]);
  });
});

describe('an event is left out, and those around it are not,', () => {
  const survives = async (strange: (deploymentId: string) => RunEvent[]) => {
    const deploymentId = await history.addDeployment();
    const [before, after] = [history.newRun(deploymentId), history.newRun(deploymentId)];
    await history.publish(...successOf(before), ...strange(deploymentId), ...successOf(after));
    return history.waitForRuns(2, { deployment_ids: [deploymentId] });
  };

  it('when it is of another deployment than its bus', async () => {
    await survives(() => successOf(history.newRun(randomUUID())));
    await survives(() => successOf(history.newRun('no-uuid')));
    const other = await history.addDeployment('22222222-0000-4000-8000-000000000002');
    await survives(() => successOf(history.newRun(other)));
    expect(await metric('run_history_left_out_total{reason="other_deployment"}')).toBe(9);
    const as = { workspace_id: '22222222-0000-4000-8000-000000000002' };
    expect(await history.search({ deployment_ids: [other] }, as)).toEqual([]);
  });

  it('when its run is older than what is kept, from the future, or has an id without a time', async () => {
    const day = 86_400_000;
    for (const runId of [
      uuidv7({ msecs: Date.now() - 40 * day }),
      uuidv7({ msecs: Date.now() + 3 * day }),
      randomUUID(),
    ]) {
      const strange = history.newRun('', { runId });
      await survives((deploymentId) => successOf({ ...strange, deploymentId }));
      expect(await history.search({ thread_ids: [strange.threadId] })).toEqual([]);
    }
  });

  it.each<[string, 'started' | 'finished', object, object]>([
    ['its time is none', 'started', { attempt: 1 }, { time: '2026-11-30T23:59:60Z' }],
    ['its time is before that of its run', 'started', { attempt: 1 }, { time: '1970-01-01T00:00:00Z' }],
    ['its time is far ahead', 'started', { attempt: 1 }, { time: '9000-01-01T00:00:00Z' }],
    ['its attempt is too high', 'started', { attempt: 2_000_000 }, {}],
    ['its attempt is negative', 'started', { attempt: -1 }, {}],
    ['its status is none', 'finished', { attempt: 1, status: 'done' }, {}],
  ])('when %s', async (_, kind, data, envelope) => {
    const run = history.newRun(await history.addDeployment());
    await survives((deploymentId) => [{ ...runEvent({ ...run, deploymentId }, kind, data), ...envelope } as RunEvent]);
  });

  it('when it cannot be stored', async () => {
    // The journal stores those around it by halves.
    await withDatabaseClient(history.database.url, (client) =>
      client.query(`ALTER TABLE run ADD CONSTRAINT refused CHECK (graph_id <> 'refused')`),
    );
    const run = history.newRun('');
    await survives((deploymentId) => [runEvent({ ...run, deploymentId }, 'created', { graph_id: 'refused' })]);
    expect(await metric('run_history_left_out_total{reason="refused"}')).toBe(1);
  });
});

it('text that Postgres cannot keep is replaced in what is stored', async () => {
  const run = history.newRun(await history.addDeployment());
  const error = { error: 'Bad\u0000Error', message: 'lone \ud800 half' };
  await history.publish(
    runEvent(run, 'created', { graph_id: 'agent', metadata: { 'a\u0000': '\u0000' } }),
    runEvent(run, 'finished', { attempt: 1, status: 'error', error }),
  );
  const [found] = await history.waitForRuns(1, { deployment_ids: [run.deploymentId], statuses: ['error'] });
  expect(found).toMatchObject({ error: { error: 'Bad\uFFFDError' }, metadata: { 'a\uFFFD': '\uFFFD' } });
});

it('events that arrive while control-plane is away are stored when it is back', async () => {
  history.controlPlane.isUnavailable = true;
  const run = history.newRun(await history.addDeployment());
  await history.publish(...successOf(run));
  await waitFor(async () => (await metric('event_bus_retries_total{topic="deployments"}')) > 0);
  history.controlPlane.isUnavailable = false;
  await history.waitForRuns(1, { deployment_ids: [run.deploymentId] });
});

it('events that were published while the service was stopped are stored when it runs again', async () => {
  const run = history.newRun(await history.addDeployment());
  await history.stopService();
  await history.publish(...successOf(run));
  await history.startService();
  await history.waitForRuns(1, { deployment_ids: [run.deploymentId] });
});
