import type { RunStatistics } from '@runyard/contracts';
import { openPool } from '@runyard/database';
import { silentLogger } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { weekOf } from '../src/journal/partitions.ts';
import { sweepHistory } from '../src/retention/retention.ts';
import { runEvent, successOf, TestHistory } from './support/history.ts';

const DAY_MS = 86_400_000;

let history: TestHistory;
let pool: pg.Pool;
beforeAll(async () => {
  history = await TestHistory.start();
  pool = openPool({ connectionString: history.database.url, max: 2, applicationName: 'test' });
});
afterAll(async () => {
  await pool.end();
  await history.close();
});

const sweep = (limits: object = {}) =>
  sweepHistory({
    ...{ pool, logger: silentLogger, retentionDays: 30, runsPerDeploymentMax: 1_000, minutesRetentionDays: 14 },
    ...limits,
  });

const numberOf = async (query: string, ...values: unknown[]) =>
  Number((await pool.query<{ count: string }>(query, values)).rows[0]!.count);

it('runs of weeks that are over go as a whole, and those of kept weeks stay', async () => {
  const deploymentId = await history.addDeployment();
  const runAt = (daysAgo: number) =>
    history.newRun(deploymentId, { runId: uuidv7({ msecs: Date.now() - daysAgo * DAY_MS }) });
  const [old, kept] = [runAt(20), runAt(4)];
  await history.publish(
    ...successOf(old),
    ...successOf(kept),
    runEvent(old, 'retried', { attempt: 1, reason: 'failed' }),
  );
  await history.waitForRuns(2, { deployment_ids: [deploymentId] });
  await sweep({ retentionDays: 5 });
  expect((await history.search({ deployment_ids: [deploymentId] })).map(({ run_id }) => run_id)).toEqual([kept.runId]);
  expect(await numberOf('SELECT count(*) FROM run_attempt WHERE run_id = $1', old.runId)).toBe(0);
  // Statistics by day outlive the runs that they count.
  const body = {
    start_time: new Date(Date.now() - 30 * DAY_MS).toISOString(),
    step: 'day',
    deployment_ids: [deploymentId],
  };
  const { body: statistics } = await history.call<RunStatistics>('POST', '/v2/runs/statistics', { body });
  expect(statistics.total.created).toBe(2);
  expect(
    await numberOf(`SELECT count(*) FROM run_statistic WHERE deployment_id = $1 AND step = 'minute'`, deploymentId),
  ).toBe(1);
});

it('the oldest runs of a deployment go when it has more than the maximum', async () => {
  const [large, small] = [await history.addDeployment(), await history.addDeployment()];
  const at = Date.now();
  const runs = Array.from({ length: 8 }, (_, index) => history.newRun(large, { runId: uuidv7({ msecs: at - index }) }));
  await history.publish(...runs.flatMap((run) => successOf(run)));
  await history.publish(...successOf(history.newRun(small)));
  await history.waitForRuns(9, { deployment_ids: [large, small] });
  await sweep({ runsPerDeploymentMax: 5 });
  const left = await history.search({ deployment_ids: [large] });
  expect(left.map(({ run_id }) => run_id)).toEqual(runs.slice(0, 5).map(({ runId }) => runId));
  expect(await history.search({ deployment_ids: [small] })).toHaveLength(1);
});

it('partitions of the next week exist ahead of its first run', async () => {
  await sweep();
  const next = new Date((weekOf(Date.now()) + 1) * 7 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '_');
  expect(
    await numberOf('SELECT count(*) FROM pg_class WHERE relname = ANY($1)', [`run_${next}`, `run_attempt_${next}`]),
  ).toBe(2);
});

it('all of a deployment goes when control-plane has deleted it', async () => {
  const run = history.newRun(await history.addDeployment());
  await history.publish(...successOf(run), runEvent(run, 'retried', { attempt: 1, reason: 'failed' }));
  await history.waitForRuns(1, { deployment_ids: [run.deploymentId] });
  const index = history.controlPlane.routes.findIndex(({ deployment_id }) => deployment_id === run.deploymentId);
  history.controlPlane.routes.splice(index, 1);
  history.controlPlane.deleted.add(run.deploymentId);
  await history.publishDeleted(run.deploymentId);
  const tables = ['deployment', 'run', 'run_statistic', 'run_latency'];
  await waitFor(async () => {
    const counts = await Promise.all(
      tables.map((table) => numberOf(`SELECT count(*) FROM ${table} WHERE deployment_id = $1`, run.deploymentId)),
    );
    return counts.every((count) => count === 0);
  });
  expect(await numberOf('SELECT count(*) FROM run_attempt WHERE run_id = $1', run.runId)).toBe(0);
});

it('a deployment that control-plane does not know at all keeps its history: that may be an older database', async () => {
  const [run, other] = [history.newRun(await history.addDeployment()), history.newRun(await history.addDeployment())];
  await history.publish(...successOf(run));
  await history.publish(...successOf(other));
  await history.waitForRuns(2, { deployment_ids: [run.deploymentId, other.deploymentId] });
  history.controlPlane.routes.length = 0;
  history.controlPlane.deleted.add(other.deploymentId);
  await history.publishDeleted(run.deploymentId);
  await waitFor(async () => {
    const runs = await history.search({ deployment_ids: [run.deploymentId, other.deploymentId] });
    return runs.map(({ run_id }) => run_id).join() === run.runId;
  });
});

it('the oldest usage of a deployment goes when it has more rows than the maximum', async () => {
  const [large, small] = [await history.addDeployment(), await history.addDeployment()];
  const at = Date.now() - 3 * DAY_MS;
  const runOn = (deploymentId: string, day: number) =>
    history.newRun(deploymentId, { runId: uuidv7({ msecs: at + day * DAY_MS }) });
  await history.publish(...[0, 1, 2].flatMap((day) => successOf(runOn(large, day))));
  await history.publish(...successOf(runOn(small, 0)));
  await history.waitForRuns(4, { deployment_ids: [large, small] });
  const rowsOf = (deploymentId: string) =>
    numberOf('SELECT count(*) FROM usage WHERE deployment_id = $1', deploymentId);
  expect([await rowsOf(large), await rowsOf(small)]).toEqual([6, 2]);
  await sweep({ usageRowsMax: 4 });
  expect([await rowsOf(large), await rowsOf(small)]).toEqual([4, 2]);
});
