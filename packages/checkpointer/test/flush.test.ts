import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresCheckpoints } from '../src/index.ts';
import { type DeploymentDatabase, openCheckpoints, openDeploymentDatabase, takeOver } from './deployment-database.ts';
import { fromJson, samplePut, sampleWrites, valuesOf, writesOf } from './sample-checkpoints.ts';

let database: DeploymentDatabase;
let checkpoints: PostgresCheckpoints;

beforeAll(async () => {
  database = await openDeploymentDatabase();
  checkpoints = openCheckpoints(database.pool);
});
afterAll(() => database.close());

async function newRun() {
  const fence = await takeOver(database.pool);
  return { threadId: fence.threadId, run: checkpoints.forRun(fence) };
}

describe('a repeated write', () => {
  const ERROR_INDEX = -1;

  it('keeps the first value, and the last value of special channels, in one flush', async () => {
    const { threadId, run } = await newRun();
    const { key } = samplePut({ threadId });
    await Promise.all([
      run.put(samplePut(key)),
      run.putWrites(sampleWrites(key, 'task', ['a', 'first'], ['__error__', 'first', ERROR_INDEX])),
      run.putWrites(sampleWrites(key, 'task', ['a', 'second'], ['__error__', 'second', ERROR_INDEX])),
    ]);
    expect(writesOf(await run.get(threadId, ''))).toEqual([
      ['task', '__error__', 'second'],
      ['task', 'a', 'first'],
    ]);
  });

  it('keeps the first value, and the last value of special channels, in successive flushes', async () => {
    const { threadId, run } = await newRun();
    const { key } = samplePut({ threadId });
    await run.put(samplePut(key));
    await run.putWrites(sampleWrites(key, 'task', ['a', 'first'], ['__error__', 'first', ERROR_INDEX]));
    await run.putWrites(sampleWrites(key, 'task', ['a', 'second'], ['__error__', 'second', ERROR_INDEX]));
    expect(writesOf(await run.get(threadId, ''))).toEqual([
      ['task', '__error__', 'second'],
      ['task', 'a', 'first'],
    ]);
  });
});

it('writes are returned by task and index, whenever they were stored', async () => {
  const { threadId, run } = await newRun();
  const { key } = samplePut({ threadId });
  await run.put(samplePut(key));
  await run.putWrites(sampleWrites(key, 'task-b', ['x', 1], ['y', 2]));
  await run.putWrites(sampleWrites(key, 'task-B', ['x', 3]));
  await run.putWrites(sampleWrites(key, 'task-a', ['x', 4], ['y', 5]));
  expect(writesOf(await run.get(threadId, ''))?.map(([task, , value]) => [task, value])).toEqual([
    ['task-B', 3],
    ['task-a', 4],
    ['task-a', 5],
    ['task-b', 1],
    ['task-b', 2],
  ]);
});

it('U+0000 in metadata and names becomes the replacement character; state keeps it', async () => {
  const { threadId, run } = await newRun();
  const put = samplePut({ threadId, changed: { 'a\u0000b': [1, 'x\u0000y'] }, metadata: { 'k\u0000': 'v\u0000' } });
  await run.put(put);
  await run.putWrites(sampleWrites(put.key, 'task\u0000', ['c\u0000', 'z\u0000']));
  const [stored] = await run.list({ threadId, filter: { 'k\uFFFD': 'v\uFFFD' } });
  expect(valuesOf(stored)).toEqual({ 'a\uFFFDb': 'x\u0000y' });
  expect(writesOf(stored)).toEqual([['task\uFFFD', 'c\uFFFD', 'z\u0000']]);
  expect(stored && fromJson(stored.metadata)).toEqual({ 'k\u0000': 'v\u0000' });
});

describe('a row that Postgres refuses', () => {
  /** Longer than an index entry may be, and not compressible. */
  const refused = Array.from({ length: 4000 }, (_, index) => String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)));

  it('fails its own run and no other in the same flush', async () => {
    const runs = await Promise.all(Array.from({ length: 9 }, newRun));
    const results = await Promise.allSettled(
      runs.map(({ threadId, run }, index) =>
        run.put(samplePut({ threadId, namespace: index === 4 ? refused.join('') : '', changed: { a: [1, index] } })),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(
      runs.map((_, index) => (index === 4 ? 'rejected' : 'fulfilled')),
    );
    expect(results[4]).toMatchObject({ reason: { name: 'StateTooLargeError', reason: 'too_large' } });
  });

  it('ends the storage of its run: nothing called after it becomes durable, everything called before does', async () => {
    const { threadId, run } = await newRun();
    const first = samplePut({ threadId, changed: { a: [1, 1] } });
    const second = samplePut({ threadId, parent: first.key, changed: { a: [2, 2] } });
    const results = await Promise.allSettled([
      run.put(first),
      run.putWrites(sampleWrites(first.key, refused.join(''), ['a', 2])),
      run.put(second),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await expect(run.put(second)).rejects.toMatchObject({ reason: 'too_large' });
    expect(await checkpoints.latestCheckpoint(threadId)).toBe(first.key.checkpointId);
  });
});

describe('concurrent operations', () => {
  it('a checkpoint waits for the writes it came from, while other runs go on', async () => {
    const { threadId, run } = await newRun();
    const parent = samplePut({ threadId });
    await run.put(parent);
    const client = await database.openPool().connect();
    await client.query('BEGIN');
    // The writes wait at this row, which is not committed yet.
    await client.query(
      `INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, data)
       VALUES ($1, '', $2, 'task', 0, 'a', 'json', '')`,
      [threadId, parent.key.checkpointId],
    );
    const writes = run.putWrites(sampleWrites(parent.key, 'task', ['a', 1]));
    await waitFor(async () => (await backendsWaitingForLock()).length === 1, { what: 'the writes to wait' });
    const child = samplePut({ threadId, parent: parent.key });
    const later = run.put(child);
    const other = await newRun();
    await other.run.put(samplePut(other));
    expect(await checkpoints.latestCheckpoint(threadId)).toBe(parent.key.checkpointId);
    await client.query('ROLLBACK');
    client.release();
    await Promise.all([writes, later]);
    expect(await checkpoints.latestCheckpoint(threadId)).toBe(child.key.checkpointId);
  });

  it('many runs at once share their commits', async () => {
    const runs = await Promise.all(Array.from({ length: 32 }, newRun));
    const before = await commits();
    await Promise.all(
      runs.map(async ({ threadId, run }) => {
        let parent = samplePut({ threadId });
        await run.put(parent);
        for (let step = 0; step < 10; step += 1) {
          const child = samplePut({ threadId, parent: parent.key, changed: { a: [step, step] } });
          await Promise.all([run.putWrites(sampleWrites(parent.key, 't', ['a', step])), run.put(child)]);
          parent = child;
        }
      }),
    );
    // The 32 × 21 operations would each be a commit.
    expect((await commits()) - before).toBeLessThan(120);
  });

  async function commits(): Promise<number> {
    await database.pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await database.pool.query(
      `SELECT xact_commit::int AS commits FROM pg_stat_database WHERE datname = current_database()`,
    );
    return rows[0].commits;
  }
});

it('closing commits what was called and accepts nothing more', async () => {
  const own = openCheckpoints(database.pool);
  const fence = await takeOver(database.pool);
  const run = own.forRun(fence);
  const put = samplePut({ threadId: fence.threadId });
  const written = run.put(put);
  await own.close();
  await written;
  await expect(run.put(put)).rejects.toMatchObject({ reason: 'unavailable' });
  expect(await checkpoints.latestCheckpoint(fence.threadId)).toBe(put.key.checkpointId);
});

it('a lost connection is retried, and what it had committed counts once', async () => {
  const { threadId, run } = await newRun();
  const base = samplePut({ threadId, changed: { a: [1, 'base'] } });
  await run.put(base);
  const child = samplePut({ threadId, parent: base.key, changed: { a: [2, 'child'] } });
  const client = await database.openPool().connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM thread_fence WHERE thread_id = $1 FOR UPDATE', [threadId]);
  const written = run.put(child);
  const waiting = await waitFor(async () => (await backendsWaitingForLock())[0], { what: 'the checkpoint to wait' });
  await client.query('SELECT pg_terminate_backend($1)', [waiting]);
  await client.query('COMMIT');
  client.release();
  await written;
  expect(valuesOf(await run.get(threadId, ''))).toEqual({ a: 'child' });
});

/** Returns process ids of the connections that wait for a lock of another transaction. */
async function backendsWaitingForLock(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ pid }) => pid);
}
