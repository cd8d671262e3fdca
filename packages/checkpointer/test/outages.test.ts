import { randomUUID } from 'node:crypto';
import { openPool, readPoolStats } from '@runyard/database';
import { FaultLine, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type BackendError,
  LARGE_STATE_BYTES,
  mayOverloadDatabase,
  PostgresCheckpoints,
  PostgresStore,
} from '../src/index.ts';
import { toBackendError } from '../src/postgres/backend-errors.ts';
import { type DeploymentDatabase, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut, valuesOf } from './sample-checkpoints.ts';

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

it('reads and store operations of a run outlast a short outage of the database', async () => {
  const fence = await takeOver(database.pool);
  const patient = new PostgresCheckpoints({ pool, readRetryMs: 10_000 }).forRun(fence);
  const put = samplePut({ threadId: fence.threadId });
  await patient.put(put);
  const store = new PostgresStore({ pool, retryMs: 10_000 }).open({ fence });
  await line.refuse();
  const hasted = new PostgresCheckpoints({ pool }).forRun(fence).get(fence.threadId, '');
  await expect(hasted).rejects.toMatchObject({ reason: 'unavailable' });
  const { failed } = readPoolStats(pool);
  const reads = [patient.get(fence.threadId, ''), patient.list({ threadId: fence.threadId })];
  const stored = store.batch([{ kind: 'put', namespace: ['n'], key: 'k', value: { n: 1 } }]);
  await waitFor(() => readPoolStats(pool).failed >= failed + 3, { what: 'three failed tries' });
  await line.heal();
  expect(await reads[0]).toMatchObject({ key: put.key });
  expect(await reads[1]).toHaveLength(1);
  await stored;
  expect(await store.batch([{ kind: 'get', namespace: ['n'], key: 'k' }])).toMatchObject([{ value: { n: 1 } }]);
});

it('a run finds out after an outage that its database has lost its last checkpoint, and stores nothing upon it', async () => {
  const fence = await takeOver(database.pool);
  const run = new PostgresCheckpoints({ pool, unavailableRetryMs: 10_000 }).forRun(fence);
  const { threadId } = fence;
  const kept = samplePut({ threadId, changed: { messages: [1, 'all of them'] } });
  const lost = samplePut({ threadId, parent: kept.key, changed: { messages: [2, 'more'], step: [1, 1] } });
  await run.put(kept);
  await run.put(lost);
  await line.refuse();
  const { failed } = readPoolStats(pool);
  const next = samplePut({ threadId, parent: lost.key, changed: { step: [2, 2] }, unchanged: { messages: 2 } });
  const refused = expect(run.put(next)).rejects.toMatchObject({ reason: 'unreadable' });
  await waitFor(() => readPoolStats(pool).failed > failed, { what: 'a failed try' });
  // This is what a standby has that had not received the last commit.
  await database.pool.query('DELETE FROM checkpoint WHERE checkpoint_id = $1', [lost.key.checkpointId]);
  await line.heal();
  await refused;
  expect((await run.get(threadId, ''))?.key).toEqual(kept.key);
});

it('a flush of checkpoints that meets a deadlock is tried again, five times in all', async () => {
  const fence = await takeOver(database.pool);
  const { threadId } = fence;
  const meeting = (deadlocks: number) => {
    const flushes: unknown[] = [];
    const deadlocked = Object.assign(Object.create(database.pool) as pg.Pool, {
      query: (query: { name?: string }) => {
        if (query.name !== 'checkpoint_flush' || flushes.push(query) > deadlocks)
          return database.pool.query(query as pg.QueryConfig);
        return Promise.reject(Object.assign(new Error('deadlock detected'), { code: '40P01' }));
      },
    });
    return { flushes, run: new PostgresCheckpoints({ pool: deadlocked }).forRun(fence) };
  };
  const passing = meeting(2);
  const put = samplePut({ threadId });
  await passing.run.put(put);
  expect(passing.flushes).toHaveLength(3);
  expect((await passing.run.get(threadId, ''))?.key).toEqual(put.key);
  const lasting = meeting(9);
  await expect(lasting.run.put(samplePut({ threadId }))).rejects.toMatchObject({ reason: 'unavailable' });
  expect(lasting.flushes).toHaveLength(5);
});

it('a run goes on after an outage from what the database has', async () => {
  const fence = await takeOver(database.pool);
  const run = new PostgresCheckpoints({ pool, unavailableRetryMs: 10_000 }).forRun(fence);
  const { threadId } = fence;
  const first = samplePut({ threadId, changed: { messages: [1, 'all of them'], step: [1, 1] } });
  await run.put(first);
  await line.refuse();
  const { failed } = readPoolStats(pool);
  const second = samplePut({ threadId, parent: first.key, changed: { step: [2, 2] }, unchanged: { messages: 1 } });
  const third = samplePut({ threadId, parent: second.key, changed: { step: [3, 3] }, unchanged: { messages: 1 } });
  const puts = [run.put(second), run.put(third)];
  await waitFor(() => readPoolStats(pool).failed > failed, { what: 'a failed try' });
  await line.heal();
  await Promise.all(puts);
  const fourth = samplePut({ threadId, parent: third.key, unchanged: { messages: 1, step: 3 } });
  await run.put(fourth);
  expect(valuesOf(await run.get(threadId, ''))).toEqual({ messages: 'all of them', step: 3 });
});

it('an outage counts as no failure, unless a write was large enough to be the cause', async () => {
  await line.refuse();
  const checkpoints = new PostgresCheckpoints({ pool, unavailableRetryMs: 0 });
  const failureOf = async (bytes: number) => {
    const fence = { threadId: randomUUID(), epoch: 1n, runId: randomUUID() };
    const put = samplePut({ threadId: fence.threadId });
    put.checkpoint.data = new Uint8Array(bytes);
    return checkpoints
      .forRun(fence)
      .put(put)
      .catch((error: BackendError) => error) as Promise<BackendError>;
  };
  const [small, large] = [await failureOf(1_000), await failureOf(LARGE_STATE_BYTES + 1)];
  expect([small.reason, large.reason]).toEqual(['unavailable', 'unavailable']);
  expect([mayOverloadDatabase(small), mayOverloadDatabase(large)]).toEqual([false, true]);
  await line.heal();
});

it('an error that is not known to be an outage is a failure, which the graph gets', () => {
  const reasonOf = (code: string) => toBackendError(Object.assign(new Error('failed'), { code })).reason;
  expect(['XX001', '42501', '26000', '42P05', '42P01'].map(reasonOf)).toEqual(Array(5).fill('storage_failed'));
  expect(['57P01', '08006', '53300', '25006', '55P03', '40P01'].map(reasonOf)).toEqual(Array(6).fill('unavailable'));
  expect(toBackendError(new TypeError('null has no replace')).reason).toBe('storage_failed');
});

it('a request that the database had no memory or time for counts as a failure', () => {
  const failed = (code: string) => toBackendError(Object.assign(new Error('refused'), { code }));
  expect(['57014', '53200', '57P01'].map((code) => mayOverloadDatabase(failed(code)))).toEqual([true, true, false]);
});
