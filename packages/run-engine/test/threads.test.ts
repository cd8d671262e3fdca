import { randomUUID } from 'node:crypto';
import { waitFor } from '@runyard/test-kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
let worker: string;
beforeAll(async () => {
  fixture = await openEngine();
  worker = await fixture.worker();
});
afterAll(() => fixture.close());

/** Returns how many transactions have made these threads. */
async function transactionsOf(threadIds: string[]): Promise<number> {
  const { rows } = await fixture.pool.query<{ count: number }>(
    'SELECT count(DISTINCT xmin::text)::int AS count FROM thread WHERE thread_id = ANY($1::uuid[])',
    [threadIds],
  );
  return rows[0]!.count;
}

describe('creating a thread', () => {
  it('that exists is a conflict, or returns the existing one', async () => {
    const threadId = randomUUID();
    const made = await fixture.engine.createThread({ threadId, metadata: { a: 1 }, ifExists: 'raise' });
    expect(made).toMatchObject({ threadId, status: 'idle', metadata: { a: 1 }, config: {}, error: null, isNew: true });
    await expect(fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' })).rejects.toMatchObject({
      status: 409,
      message: `Thread with ID ${threadId} already exists`,
    });
    expect(await fixture.engine.createThread({ threadId, metadata: { b: 2 }, ifExists: 'do_nothing' })).toEqual({
      ...made,
      isNew: false,
    });
  });

  it('by many processes at once creates it once', async () => {
    const threadId = randomUUID();
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' })),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  it('together with others shares their transaction, and one that exists is refused alone', async () => {
    const ids = Array.from({ length: 40 }, () => randomUUID());
    const taken = await fixture.thread();
    const results = await Promise.allSettled(
      [...ids, taken].map((threadId) =>
        fixture.engine.createThread({ threadId, metadata: { threadId }, ifExists: 'raise' }),
      ),
    );
    const made = results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason));
    expect(made.slice(0, -1)).toMatchObject(ids.map((threadId) => ({ threadId, metadata: { threadId }, isNew: true })));
    expect(made.at(-1)).toMatchObject({ status: 409, code: 'thread_exists' });
    expect(await transactionsOf(ids)).toBe(1);
  });

  it('by an id in capital letters is the thread of that id, whoever asks for both at once', async () => {
    const threadId = randomUUID();
    const create = (id: string, name: string) =>
      fixture.engine.createThread({ threadId: id, metadata: { name }, ifExists: 'raise' });
    const other = randomUUID().toUpperCase();
    expect(await create(other, 'alone')).toMatchObject({ threadId: other.toLowerCase(), isNew: true });
    const [first, second] = await Promise.allSettled([
      create(threadId, 'first'),
      create(threadId.toUpperCase(), 'second'),
    ]);
    expect(first).toMatchObject({ status: 'fulfilled', value: { threadId, metadata: { name: 'first' }, isNew: true } });
    expect(second).toMatchObject({ status: 'rejected', reason: { status: 409 } });
  });

  it('whose id is taken up meanwhile by a draft leaves the others, and waits for it', async () => {
    const [drafted, other] = [randomUUID(), randomUUID()];
    const client = await fixture.pool.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO thread_fence (thread_id, epoch) VALUES ($1, 5)', [drafted]);
    const making = Promise.all(
      [drafted, other].map((threadId) => fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' })),
    );
    await waitFor(async () => {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      );
      return rows.length > 0;
    });
    await client.query('COMMIT');
    client.release();
    expect(await making).toMatchObject([
      { threadId: drafted, isNew: true },
      { threadId: other, isNew: true },
    ]);
    expect(await transactionsOf([drafted, other])).toBe(2);
  });
});

it('deleting a busy thread deletes all of it and refuses what its run still writes', async () => {
  const threadId = await fixture.thread();
  await fixture.engine.createRun(aRun({ threadId }));
  const [run] = await fixture.engine.claimRuns(worker, 1);
  const client = await fixture.pool.connect();
  await writeCheckpointUnderFence(client, run!, randomUUID());
  const { threads } = await fixture.engine.deleteThread(threadId);
  expect(threads).toEqual([{ threadId, epoch: run!.fence.epoch + 1n, hasStatelessRuns: false }]);
  expect(await writeCheckpointUnderFence(client, run!, randomUUID())).toBe('fenced');
  client.release();
  await expect(fixture.engine.finishRun(success(run!))).rejects.toMatchObject({ name: 'FencedError' });
  for (const table of ['thread', 'thread_fence', 'run', 'checkpoint', 'checkpoint_blob', 'checkpoint_write']) {
    expect(await fixture.rows(`SELECT 1 FROM ${table} WHERE thread_id = $1`, [threadId])).toEqual([]);
  }
  await expect(fixture.engine.deleteThread(threadId)).rejects.toMatchObject({
    status: 404,
    message: `Thread with ID ${threadId} not found`,
  });
});

describe('deleting a run', () => {
  it('that runs takes its thread from it and leaves the thread idle', async () => {
    const threadId = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId }));
    const [run] = await fixture.engine.claimRuns(worker, 1);
    await fixture.engine.deleteRun(threadId, run!.runId);
    await expect(fixture.engine.finishRun(success(run!))).rejects.toMatchObject({ name: 'FencedError' });
    expect(await fixture.rows('SELECT status FROM thread WHERE thread_id = $1', [threadId])).toEqual([
      { status: 'idle' },
    ]);
    await expect(fixture.engine.deleteRun(threadId, run!.runId)).rejects.toMatchObject({ status: 404 });
  });
});

it('deleting a waiting run takes nothing from the running one, not even on its stream', async () => {
  const threadId = await fixture.thread();
  await fixture.engine.createRun(aRun({ threadId }));
  const waiting = await fixture.engine.createRun(aRun({ threadId }));
  const [run] = await fixture.engine.claimRuns(worker, 1);
  const deleted = await fixture.engine.deleteRun(threadId, waiting.run.runId);
  expect(deleted!.fence.epoch).toBe(run!.fence.epoch);
  await fixture.engine.finishRun(success(run!));
});

describe('updating the state of a thread', () => {
  const state = { values: Buffer.from('{"n":2}'), interrupts: null, checkpointId: 'c-2', status: 'idle' as const };

  it('is refused while a run is in flight', async () => {
    const threadId = await fixture.thread();
    const { run } = await fixture.engine.createRun(aRun({ threadId }));
    await expect(fixture.engine.beginStateUpdate(threadId)).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining(`Thread ${threadId} has in-flight runs: ${run.runId}`),
    });
    await expect(fixture.engine.beginStateUpdate(randomUUID())).rejects.toMatchObject({ status: 404 });
    await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'interrupt', 'asked');
  });

  it('sets the state of a thread that had none', async () => {
    const threadId = await fixture.thread();
    const fence = await fixture.engine.beginStateUpdate(threadId);
    await fixture.engine.commitStateUpdate({ fence, ...state });
    const [thread] = await fixture.rows(
      'SELECT status, "values", checkpoint_id FROM thread JOIN thread_state USING (thread_id) WHERE thread_id = $1',
      [threadId],
    );
    expect(thread).toEqual({ status: 'idle', values: state.values, checkpoint_id: 'c-2' });
  });

  it('ends the task whose question it takes away, and no other', async () => {
    const metadataAfter = async (threadStatus: 'idle' | 'interrupted', status: 'idle' | 'interrupted') => {
      const threadId = await fixture.thread();
      const { runId } = aRun();
      await fixture.engine.createRun(aRun({ threadId, runId, metadata: { task_id: runId } }));
      const [run] = await fixture.engine.claimRuns(worker, 1);
      await fixture.engine.finishRun(success(run!, { threadStatus }));
      const fence = await fixture.engine.beginStateUpdate(threadId);
      await fixture.engine.commitStateUpdate({ fence, ...state, status });
      return (await fixture.engine.getRun(threadId, runId))?.metadata;
    };
    expect(await metadataAfter('interrupted', 'idle')).toHaveProperty('task_canceled', 'superseded');
    expect(await metadataAfter('interrupted', 'interrupted')).not.toHaveProperty('task_canceled');
    expect(await metadataAfter('idle', 'idle')).not.toHaveProperty('task_canceled');
  });

  it('is fenced by a run that has begun meanwhile', async () => {
    const threadId = await fixture.thread();
    const fence = await fixture.engine.beginStateUpdate(threadId);
    await fixture.engine.createRun(aRun({ threadId }));
    const [run] = await fixture.engine.claimRuns(worker, 1);
    await expect(fixture.engine.commitStateUpdate({ fence, ...state })).rejects.toMatchObject({ name: 'FencedError' });
    await fixture.engine.finishRun(success(run!));
  });
});

it('queue statistics cover the whole deployment', async () => {
  await fixture.engine.createRun(aRun());
  await fixture.engine.createRun(aRun());
  await fixture.engine.claimRuns(worker, 1);
  expect(await fixture.engine.readQueueStatistics()).toEqual({
    pendingRuns: 1,
    runningRuns: 1,
    pendingWaitMax: expect.any(Number),
    pendingWaitMedian: expect.any(Number),
    unblockedWaitMax: expect.any(Number),
    runsAwaitingKeys: 0,
    workers: 1,
    slots: 10,
  });
});
