import { openPool, poolUse } from '@runyard/database';
import { FaultLine, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PostgresCheckpoints, PostgresStore } from '../src/index.ts';
import { type DeploymentDatabase, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut } from './sample-checkpoints.ts';

let database: DeploymentDatabase;
let line: FaultLine;
let pool: pg.Pool;
beforeAll(async () => {
  database = await openDeploymentDatabase();
  line = await FaultLine.to(database.url);
  pool = openPool({ connectionString: line.url, max: 2, applicationName: 'checkpointer-test' });
});
afterAll(async () => {
  await pool.end();
  await line.close();
  await database.close();
});

it('what a run reads, and what it does with the store, outlasts a database that is away for a moment', async () => {
  const fence = await takeOver(database.pool);
  const patient = new PostgresCheckpoints({ pool, readRetryMs: 10_000 }).forRun(fence);
  const put = samplePut({ threadId: fence.threadId });
  await patient.put(put);
  const store = new PostgresStore({ pool, retryMs: 10_000 }).open({ fence });
  await line.refuse();
  const hasted = new PostgresCheckpoints({ pool }).forRun(fence).get(fence.threadId, '');
  await expect(hasted).rejects.toMatchObject({ reason: 'unavailable' });
  const { failed } = poolUse(pool);
  const reads = [patient.get(fence.threadId, ''), patient.list({ threadId: fence.threadId })];
  const stored = store.batch([{ kind: 'put', namespace: ['n'], key: 'k', value: { n: 1 } }]);
  await waitFor(() => poolUse(pool).failed >= failed + 3, { what: 'three failed tries' });
  await line.heal();
  expect(await reads[0]).toMatchObject({ key: put.key });
  expect(await reads[1]).toHaveLength(1);
  await stored;
  expect(await store.batch([{ kind: 'get', namespace: ['n'], key: 'k' }])).toMatchObject([{ value: { n: 1 } }]);
});
