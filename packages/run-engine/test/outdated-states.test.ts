import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
let worker: string;
beforeAll(async () => {
  fixture = await openEngine();
  worker = await fixture.worker();
});
afterAll(() => fixture?.close());

const found = async () => (await fixture.engine.rescue.findOutdatedStates()).map(({ threadId }) => threadId);
const marks = async () => (await fixture.rows('SELECT 1 FROM thread_state_behind')).length;

/** Makes a running run that wrote a checkpoint. */
async function running(checkpointId: string): Promise<ClaimedRun> {
  const { threadId } = await fixture.engine.createThread({
    threadId: randomUUID(),
    metadata: { graph_id: 'agent' },
    ifExists: 'raise',
  });
  await fixture.engine.createRun(aRun({ threadId }));
  const [run] = await fixture.engine.claimRuns(worker, 10);
  const client = await fixture.pool.connect();
  await writeCheckpointUnderFence(client, run!, checkpointId);
  client.release();
  return run!;
}

it('threads whose last run could not store its state are found, until a process has read it', async () => {
  const interrupted = await running('a');
  await fixture.engine.requestCancel({ threadId: interrupted.threadId }, 'interrupt', 'asked');
  await fixture.engine.releaseRun(interrupted.fence);
  const deleted = await running('b');
  await fixture.engine.deleteRun(deleted.threadId, deleted.runId);
  const rolledBack = await running('c');
  await fixture.engine.requestCancel({ threadId: rolledBack.threadId }, 'rollback', 'asked');
  await fixture.engine.releaseRun(rolledBack.fence);
  const told = await running('d');
  await fixture.engine.finishRun(success(told, { checkpointId: 'd' }));
  expect((await found()).sort()).toEqual([interrupted.threadId, deleted.threadId].sort());

  const fence = await fixture.engine.beginStateUpdate(interrupted.threadId);
  const state = { values: Buffer.from('{"read":1}'), interrupts: null, checkpointId: 'a' };
  await fixture.engine.commitStateUpdate({ fence, ...state, status: null });
  expect(await fixture.rows('SELECT status, error FROM thread WHERE thread_id = $1', [interrupted.threadId])).toEqual([
    { status: 'interrupted', error: { error: 'UserInterrupt', message: 'asked' } },
  ]);
  expect(await found()).toEqual([deleted.threadId]);
  await fixture.engine.deleteThread(deleted.threadId);
  expect(await marks()).toBe(0);
});

it('a state update whose writer died is found after a while, and forgotten when it wrote nothing', async () => {
  const { threadId } = await running('e').then(async (run) => {
    await fixture.engine.finishRun(success(run, { checkpointId: 'e' }));
    return run;
  });
  await fixture.engine.beginStateUpdate(threadId);
  expect([await found(), await marks()]).toEqual([[], 1]);
  await fixture.rows('UPDATE thread_state_behind SET look_at = now()');
  await fixture.rows(`UPDATE checkpoint SET checkpoint_id = 'f' WHERE thread_id = $1`, [threadId]);
  expect(await found()).toEqual([threadId]);
  await fixture.rows(`UPDATE checkpoint SET checkpoint_id = 'e' WHERE thread_id = $1`, [threadId]);
  expect([await found(), await marks()]).toEqual([[], 0]);
});
