import { Metrics } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresCheckpoints, PostgresStore } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { samplePut, sampleWrites, valuesOf, writesOf } from './sample-checkpoints.ts';

let database: DeploymentDatabase;
let checkpoints: PostgresCheckpoints;

beforeAll(async () => {
  database = await openDeploymentDatabase();
  checkpoints = openCheckpoints(database.pool);
});
afterAll(() => database.close());

/** Resolves once this many statements of the database wait for a lock. */
const waiting = (statements: number) =>
  waitFor(async () => {
    const { rowCount } = await database.pool.query(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rowCount === statements;
  });

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await database.openPool().connect();
  await client.query('BEGIN');
  try {
    await work(client);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

describe('an owner whose thread was taken over', () => {
  it('writes nothing more, even when its batch began before the takeover', async () => {
    const fence = await takeOver(database.pool);
    const { threadId } = fence;
    const put = samplePut({ threadId, changed: { a: [1, 'late'] } });
    await inTransaction(async (client) => {
      await takeOver(client, { threadId });
      const refused = expect(checkpoints.forRun(fence).put(put)).rejects.toMatchObject({ reason: 'fenced' });
      await waiting(1);
      await client.query('COMMIT');
      await refused;
    });
    expect(await checkpoints.readOnly().list({ threadId })).toEqual([]);
    expect(await checkpoints.latestCheckpoint(threadId)).toBeUndefined();
  });

  it('delays the takeover while one of its batches is being written', async () => {
    const fence = await takeOver(database.pool);
    const put = samplePut({ threadId: fence.threadId, changed: { a: [1, 'in time'] } });
    await inTransaction(async (client) => {
      // The batch has locked its fence and waits at this row, which is not committed yet.
      await client.query(
        `INSERT INTO checkpoint_blob (thread_id, checkpoint_ns, channel, version, checkpoint_id, type, data)
         VALUES ($1, '', 'a', '1', $2, 'json', '')`,
        [fence.threadId, put.key.checkpointId],
      );
      const written = checkpoints.forRun(fence).put(put);
      await waiting(1);
      const taken = takeOver(database.pool, { threadId: fence.threadId });
      await waiting(2);
      await client.query('ROLLBACK');
      // The batch would have been refused after a takeover.
      await written;
      await taken;
    });
    expect(valuesOf(await checkpoints.readOnly().get(fence.threadId, ''))).toEqual({ a: 'in time' });
  });

  it('is refused alone: other owners in the same batch are written', async () => {
    const stale = await takeOver(database.pool);
    await takeOver(database.pool, { threadId: stale.threadId });
    const fresh = await takeOver(database.pool);
    const results = await Promise.allSettled(
      [stale, fresh].map((fence) =>
        checkpoints.forRun(fence).put(samplePut({ threadId: fence.threadId, changed: { a: [1, 'x'] } })),
      ),
    );
    expect(results).toMatchObject([{ status: 'rejected', reason: { reason: 'fenced' } }, { status: 'fulfilled' }]);
    expect(await checkpoints.latestCheckpoint(stale.threadId)).toBeUndefined();
    expect(await checkpoints.latestCheckpoint(fresh.threadId)).toBeDefined();
  });

  it('is refused alone, even beside the new owner of the same thread', async () => {
    const stale = await takeOver(database.pool);
    const fresh = await takeOver(database.pool, { threadId: stale.threadId });
    const put = samplePut({ threadId: stale.threadId, changed: { a: [1, 'old'] } });
    const newer = samplePut({ ...put.key, changed: { a: [1, 'new'] } });
    const results = await Promise.allSettled([
      checkpoints.forRun(stale).put(put),
      checkpoints.forRun(fresh).put(newer),
      checkpoints.forRun(stale).deleteThread(stale.threadId),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(valuesOf(await checkpoints.readOnly().get(stale.threadId, ''))).toEqual({ a: 'new' });
  });

  it('stays refused', async () => {
    const fence = await takeOver(database.pool);
    const run = checkpoints.forRun(fence);
    await takeOver(database.pool, { threadId: fence.threadId });
    const { key } = samplePut({ threadId: fence.threadId });
    await expect(run.putWrites(sampleWrites(key, 'task', ['a', 1]))).rejects.toMatchObject({ reason: 'fenced' });
    await database.pool.query('UPDATE thread_fence SET epoch = $2 WHERE thread_id = $1', [fence.threadId, fence.epoch]);
    await expect(run.putWrites(sampleWrites(key, 'task', ['a', 1]))).rejects.toMatchObject({ reason: 'fenced' });
  });
});

describe('a store of an owner whose thread was taken over', () => {
  const put = (value: number) => ({ kind: 'put' as const, namespace: ['n'], key: `k${value}`, value: { value } });
  const keys = async () =>
    (await database.pool.query<{ key: string }>('SELECT key FROM store_item ORDER BY key')).rows.map(({ key }) => key);

  it('accepts nothing, even when its batch began before the takeover', async () => {
    const fence = await takeOver(database.pool);
    const store = new PostgresStore({ pool: database.pool }).open({ fence });
    await inTransaction(async (client) => {
      await takeOver(client, { threadId: fence.threadId });
      const refused = expect(store.batch([put(1), put(2)])).rejects.toMatchObject({ reason: 'fenced' });
      await waiting(1);
      await client.query('COMMIT');
      await refused;
    });
    expect(await keys()).toEqual([]);
  });

  it('delays the takeover while one of its batches is being written, and refuses puts from then on', async () => {
    const fence = await takeOver(database.pool);
    const store = new PostgresStore({ pool: database.pool }).open({ fence });
    const seenByOwner: string[][] = [];
    await inTransaction(async (client) => {
      // The batch has locked its fence and waits at this row, which is not committed yet.
      await client.query(`INSERT INTO store_item (namespace, key, value) VALUES ('{n}', 'k1', '{}')`);
      const written = store.batch([put(1)]);
      await waiting(1);
      const taken = takeOver(database.pool, { threadId: fence.threadId });
      const seen = taken.then(async () => void seenByOwner.push(await keys()));
      await waiting(2);
      await client.query('ROLLBACK');
      await Promise.all([written, seen]);
    });
    expect(seenByOwner).toEqual([['k1']]);
    await expect(store.batch([put(2)])).rejects.toMatchObject({ reason: 'fenced' });
    expect(await keys()).toEqual(['k1']);
  });
});

it('refused writes of a stale attempt are counted', async () => {
  const metrics = new Metrics();
  const counted = new PostgresCheckpoints({ pool: database.pool, metrics });
  const fence = await takeOver(database.pool);
  const run = counted.forRun(fence);
  await run.put(samplePut({ threadId: fence.threadId }));
  await takeOver(database.pool, { threadId: fence.threadId });
  await expect(run.put(samplePut({ threadId: fence.threadId }))).rejects.toMatchObject({ reason: 'fenced' });
  const text = await metrics.text();
  expect(text).toContain('checkpoint_operations_total 2');
  expect(text).toContain('checkpoint_operations_refused_total{reason="fenced"} 1');
});

it('a thread without a fence cannot be written', async () => {
  const { threadId } = await takeOver(database.pool);
  await database.pool.query('DELETE FROM thread_fence WHERE thread_id = $1', [threadId]);
  const run = checkpoints.forRun({ threadId, epoch: 1n, runId: null });
  await expect(run.put(samplePut({ threadId }))).rejects.toMatchObject({ reason: 'fenced' });
});

it('a run writes its own thread only, and goes on after it tried another', async () => {
  const mine = await takeOver(database.pool);
  const other = await takeOver(database.pool);
  const run = checkpoints.forRun(mine);
  const elsewhere = samplePut({ threadId: other.threadId });
  await expect(run.put(elsewhere)).rejects.toMatchObject({ reason: 'invalid' });
  await expect(run.putWrites(sampleWrites(elsewhere.key, 't', ['a', 1]))).rejects.toMatchObject({ reason: 'invalid' });
  await expect(run.deleteThread(other.threadId)).rejects.toMatchObject({ reason: 'invalid' });
  await run.put(samplePut({ threadId: mine.threadId }));
});

it('a read-only backend refuses writes', async () => {
  const { threadId } = await takeOver(database.pool);
  const reads = checkpoints.readOnly();
  const put = samplePut({ threadId });
  await expect(reads.put(put)).rejects.toMatchObject({ reason: 'invalid' });
  await expect(reads.putWrites(sampleWrites(put.key, 't', ['a', 1]))).rejects.toMatchObject({ reason: 'invalid' });
  await expect(reads.deleteThread(threadId)).rejects.toMatchObject({ reason: 'invalid' });
});

it('checkpoints and writes have the id of their run, and those of state updates have none', async () => {
  const run = await takeOver(database.pool);
  const put = samplePut({ threadId: run.threadId });
  await checkpoints.forRun(run).put(put);
  await checkpoints.forRun(run).putWrites(sampleWrites(put.key, 't', ['a', 1]));
  const update = await takeOver(database.pool, { threadId: run.threadId, runId: null });
  await checkpoints.forRun(update).put(samplePut({ threadId: run.threadId, parent: put.key }));
  const { rows } = await database.pool.query(
    `SELECT run_id FROM checkpoint WHERE thread_id = $1 UNION ALL SELECT run_id FROM checkpoint_write WHERE thread_id = $1`,
    [run.threadId],
  );
  expect(rows.map(({ run_id }) => run_id).sort()).toEqual([run.runId, run.runId, null].sort());
  expect(writesOf(await checkpoints.readOnly().get(run.threadId, '', put.key.checkpointId))).toEqual([['t', 'a', 1]]);
});

it('deleting a thread deletes all its checkpoints, and later puts stay', async () => {
  const fence = await takeOver(database.pool);
  const { threadId } = fence;
  const run = checkpoints.forRun(fence);
  const before = samplePut({ threadId, changed: { a: [1, 'before'] } });
  const after = samplePut({ threadId, changed: { a: [1, 'after'] } });
  await Promise.all([
    run.put(before),
    run.putWrites(sampleWrites(before.key, 't', ['a', 1])),
    run.deleteThread(threadId),
    run.put(after),
  ]);
  expect((await checkpoints.readOnly().list({ threadId })).map(valuesOf)).toEqual([{ a: 'after' }]);
  const { rows } = await database.pool.query('SELECT FROM checkpoint_write WHERE thread_id = $1', [threadId]);
  expect(rows).toEqual([]);
});
