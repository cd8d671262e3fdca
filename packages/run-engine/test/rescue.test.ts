import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

let fixture: EngineFixture;
const onWebhooksQueued = vi.fn();
let worker: string;
beforeAll(async () => {
  fixture = await openEngine({ onWebhooksQueued });
});
afterAll(() => fixture?.close());

async function running(): Promise<ClaimedRun> {
  worker = await fixture.worker();
  const threadId = await fixture.thread();
  await fixture.engine.createRun(aRun({ threadId }));
  const [run] = await fixture.engine.claimRuns(worker, 1);
  return run!;
}

const order = (run: ClaimedRun, action: 'interrupt' | 'rollback') =>
  fixture.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, action, 'asked');
const lapse = () => fixture.rows('UPDATE worker SET lease_until = now() WHERE worker_id = $1', [worker]);
const threadOf = async (threadId: string) =>
  (await fixture.rows('SELECT status, error FROM thread WHERE thread_id = $1', [threadId]))[0];

describe('without any worker', () => {
  it('cancelled runs of those that are gone end as their orders say, and nothing else happens to others', async () => {
    const interrupted = await running();
    await order(interrupted, 'interrupt');
    expect(await fixture.engine.rescue.endCancelled()).toEqual([]);
    await lapse();
    const rolledBack = await running();
    const client = await fixture.pool.connect();
    await writeCheckpointUnderFence(client, rolledBack, 'during');
    await order(rolledBack, 'rollback');
    await lapse();
    const other = await running();
    await lapse();
    const ended = await fixture.engine.rescue.endCancelled();
    expect(new Map(ended.map(({ runId, isRolledBack }) => [runId, isRolledBack]))).toEqual(
      new Map([
        [interrupted.runId, false],
        [rolledBack.runId, true],
      ]),
    );
    expect(await writeCheckpointUnderFence(client, rolledBack, 'late')).toBe('fenced');
    client.release();
    expect(await fixture.rows('SELECT 1 FROM checkpoint')).toEqual([]);
    expect(await threadOf(interrupted.threadId)).toMatchObject({ status: 'interrupted' });
    expect(await threadOf(rolledBack.threadId)).toMatchObject({ status: 'idle', error: { error: 'UserRollback' } });
    expect(await fixture.engine.getRun(other.threadId, other.runId)).toMatchObject({ status: 'running' });
    await order(other, 'rollback');
    expect(await fixture.engine.rescue.endCancelled()).toHaveLength(1);
  });
});

it('who is to be told of a cancelled run of a lost worker is told at once: the sender of webhooks is woken', async () => {
  worker = await fixture.worker();
  const threadId = await fixture.thread();
  const target = { url: 'https://example.com/hook', host: 'example.com' };
  await fixture.engine.createRun(aRun({ threadId, webhooks: [target] }));
  const [run] = await fixture.engine.claimRuns(worker, 1);
  await order(run!, 'interrupt');
  await lapse();
  onWebhooksQueued.mockClear();
  expect(await fixture.engine.rescue.endCancelled()).toHaveLength(1);
  expect(onWebhooksQueued).toHaveBeenCalledOnce();
});

describe('a thread that nothing would free', () => {
  /** Time passes for its rows. */
  async function age(threadId: string): Promise<void> {
    await fixture.rows(`UPDATE thread SET updated_at = now() - interval '1 minute' WHERE thread_id = $1`, [threadId]);
    await fixture.rows(
      `UPDATE run SET updated_at = now() - interval '1 minute', ready_at = now() - interval '1 minute' WHERE thread_id = $1`,
      [threadId],
    );
  }

  it('runs again: its fence was lost, or names a run that is over', async () => {
    const damages = [
      'DELETE FROM thread_fence WHERE thread_id = $1',
      'UPDATE thread_fence SET run_id = gen_random_uuid() WHERE thread_id = $1',
    ];
    for (const damage of damages) {
      const threadId = await fixture.thread();
      const { run } = await fixture.engine.createRun(aRun({ threadId }));
      await fixture.rows(damage, [threadId]);
      worker = await fixture.worker();
      expect(await fixture.engine.claimRuns(worker, 10)).toEqual([]);
      expect(await fixture.engine.rescue.mendThreads()).toEqual([]);
      await age(threadId);
      expect(await fixture.engine.rescue.mendThreads()).toEqual([threadId]);
      const [claimed] = await fixture.engine.claimRuns(worker, 10);
      expect(claimed?.runId).toBe(run.runId);
      await fixture.engine.finishRun(success(claimed!));
      expect(await threadOf(threadId)).toMatchObject({ status: 'idle' });
    }
  });

  it('gets back a running run that its fence does not know, to be executed again', async () => {
    const run = await running();
    await fixture.rows('DELETE FROM thread_fence WHERE thread_id = $1', [run.threadId]);
    await lapse();
    await age(run.threadId);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [] });
    expect(await fixture.engine.rescue.mendThreads()).toEqual([run.threadId]);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [run.runId] });
    await fixture.engine.deleteThread(run.threadId);
  });

  it('is idle again when it is busy with nothing; one that has something to do is left alone', async () => {
    const busy = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId: busy }));
    const idle = await fixture.thread();
    await fixture.rows(`UPDATE thread SET status = 'busy' WHERE thread_id = $1`, [idle]);
    await Promise.all([busy, idle, randomUUID()].map(age));
    expect(await fixture.engine.rescue.mendThreads()).toEqual([idle]);
    expect(await threadOf(idle)).toMatchObject({ status: 'idle' });
    expect(await threadOf(busy)).toMatchObject({ status: 'busy' });
    expect(await fixture.engine.rescue.mendThreads()).toEqual([]);
  });
});
