import { randomUUID } from 'node:crypto';
import { withTransaction } from '@runyard/database';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import type { Fence } from '../src/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
let worker: string;
beforeAll(async () => {
  fixture = await openEngine();
  worker = await fixture.worker();
});
afterAll(() => fixture.close());

const state = { values: Buffer.from('{"n":1}'), interrupts: null, checkpointId: 'c1', status: 'idle' as const };
const conflict = { status: 409 };

function write(fence: Fence, checkpointId: string): Promise<'written' | 'fenced'> {
  const run = { ...fence, runId: randomUUID(), fence } as unknown as ClaimedRun;
  return withTransaction(fixture.pool, (client) => writeCheckpointUnderFence(client, run, checkpointId));
}

const checkpointsOf = async (threadId: string) =>
  (await fixture.rows('SELECT checkpoint_id FROM checkpoint WHERE thread_id = $1', [threadId])).map(
    ({ checkpoint_id }) => checkpoint_id,
  );
const threadOf = (threadId: string) =>
  fixture.rows('SELECT status, metadata FROM thread WHERE thread_id = $1', [threadId]);

describe('a thread that is created with a state', () => {
  it('exists only together with its state, and runs after it', async () => {
    const threadId = randomUUID();
    const fence = await fixture.engine.drafts.begin(threadId);
    expect(await write(fence, 'c1')).toBe('written');
    expect(await threadOf(threadId)).toEqual([]);
    await fixture.engine.drafts.complete({ fence, thread: { metadata: { a: 1 } }, ...state });
    expect(await threadOf(threadId)).toEqual([{ status: 'idle', metadata: { a: 1 } }]);
    expect(await fixture.rows('SELECT "values" FROM thread_state WHERE thread_id = $1', [threadId])).toEqual([
      { values: state.values },
    ]);
    const { run } = await fixture.engine.createRun(aRun({ threadId }));
    const [claimed] = await fixture.engine.claimRuns(worker, 10);
    expect(claimed!.runId).toBe(run.runId);
    expect(await write(fence, 'c2')).toBe('fenced');
    await fixture.engine.finishRun(success(claimed!));
  });

  it('leaves no thread when its process died, and every use of its id starts over', async () => {
    const takers: ((threadId: string) => Promise<unknown>)[] = [
      (threadId) => fixture.engine.drafts.begin(threadId),
      (threadId) => fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' }),
      (threadId) => fixture.engine.createRun(aRun({ threadId, ifThreadMissing: 'create' })),
    ];
    for (const take of takers) {
      const threadId = randomUUID();
      const dead = await fixture.engine.drafts.begin(threadId);
      await write(dead, 'half');
      await take(threadId);
      expect(await checkpointsOf(threadId)).toEqual([]);
      expect(await write(dead, 'late')).toBe('fenced');
      await expect(
        fixture.engine.drafts.complete({ fence: dead, thread: { metadata: {} }, ...state }),
      ).rejects.toMatchObject(conflict);
      await fixture.engine.drafts.discard(dead);
      expect(await fixture.rows('SELECT 1 FROM thread_fence WHERE thread_id = $1', [threadId])).toHaveLength(1);
    }
    await fixture.engine.requestCancel({ status: 'all' }, 'interrupt', '');
  });

  it('is refused under an id that is in use, and leaves nothing when it is discarded', async () => {
    await expect(fixture.engine.drafts.begin(await fixture.thread())).rejects.toMatchObject(conflict);
    const { run } = await fixture.engine.createRun(aRun());
    await expect(fixture.engine.drafts.begin(run.threadId)).rejects.toMatchObject(conflict);
    await fixture.engine.requestCancel({ threadId: run.threadId }, 'interrupt', '');
    const fence = await fixture.engine.drafts.begin(randomUUID());
    await write(fence, 'c1');
    await fixture.engine.drafts.discard(fence);
    expect(await checkpointsOf(fence.threadId)).toEqual([]);
    expect(await fixture.rows('SELECT 1 FROM thread_fence WHERE thread_id = $1', [fence.threadId])).toEqual([]);
  });

  it('is created once when many use one id at once', async () => {
    const threadId = randomUUID();
    const makers = Array.from({ length: 8 }, async (_, index) => {
      if (index % 2) return fixture.engine.createThread({ threadId, metadata: { index }, ifExists: 'raise' });
      const fence = await fixture.engine.drafts.begin(threadId);
      await write(fence, `of ${index}`);
      return fixture.engine.drafts.complete({ fence, thread: { metadata: { index } }, ...state });
    });
    const made = (await Promise.allSettled(makers)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
    expect(made).toHaveLength(1);
    const index = made[0]!.metadata.index as number;
    expect(await checkpointsOf(threadId)).toEqual(index % 2 ? [] : [`of ${index}`]);
  });
});

it("a thread with the id of a stateless run's thread can still run when that run has ended", async () => {
  const endings: ((run: ClaimedRun | undefined, threadId: string, runId: string) => Promise<unknown>)[] = [
    (run) => fixture.engine.finishRun(success(run!)),
    (_, threadId, runId) => fixture.engine.deleteRun(threadId, runId),
    (_, threadId, runId) => fixture.engine.requestCancel({ threadId, runIds: [runId] }, 'rollback', ''),
  ];
  for (const [index, end] of endings.entries()) {
    const { run } = await fixture.engine.createRun(aRun());
    const { threadId, runId } = run;
    // The last one is cancelled before it starts.
    const [claimed] = index < 2 ? await fixture.engine.claimRuns(worker, 10) : [];
    await fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
    const next = await fixture.engine.createRun(aRun({ threadId }));
    await end(claimed, threadId, runId);
    const [second] = await fixture.engine.claimRuns(worker, 10);
    expect(second?.runId).toBe(next.run.runId);
    await fixture.engine.finishRun(success(second!));
    expect(await threadOf(threadId)).toMatchObject([{ status: 'idle' }]);
  }
});

it("deleting a thread with the id of a stateless run's thread leaves that run, whether it runs or waits", async () => {
  for (const isRunning of [true, false]) {
    const { run } = await fixture.engine.createRun(aRun({ metadata: { owner: 'ada' } }));
    const { threadId, runId } = run;
    let [claimed] = await fixture.engine.claimRuns(worker, 10);
    if (!isRunning) await fixture.engine.releaseRun(claimed!.fence, { failure: { error: 'Lost', message: '' } });
    await fixture.engine.createThread({ threadId, metadata: {}, ifExists: 'raise' });
    const own = await fixture.engine.createRun(aRun({ threadId, multitaskStrategy: 'rollback' }));
    expect(own.cancelled).toEqual([]);
    expect(await fixture.engine.listRuns({ threadId, limit: 10, offset: 0 })).toMatchObject([{ runId: own.run.runId }]);
    const deletion = await fixture.engine.deleteThread(threadId);
    expect(deletion).toMatchObject({ threads: [{ hasStatelessRuns: true }], runs: [{ runId: own.run.runId }] });
    // Ends of the deleted thread's runs must not fence out the worker of this one.
    if (isRunning) expect(deletion.runs[0]!.fence.epoch).toBe(claimed!.fence.epoch);
    else [claimed] = await fixture.engine.claimRuns(worker, 10);
    expect(claimed?.runId).toBe(runId);
    await fixture.engine.finishRun(success(claimed!));
    expect(await fixture.engine.getRun(threadId, runId)).toMatchObject({ status: 'success' });
    expect(await fixture.rows('SELECT 1 FROM thread_fence WHERE thread_id = $1', [threadId])).toEqual([]);
  }
});
