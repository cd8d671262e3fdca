import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FencedError } from '../src/errors.ts';
import type { ClaimedRun } from '../src/runs/types.ts';
import { StuckThreadSearch } from '../src/workers/stuck-threads.ts';
import { workerSessionName } from '../src/workers/unresponsive-sessions.ts';
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
  it('cancelled runs of lost workers end as their orders say, and other runs stay', async () => {
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

it('a run ends although its worker stalls in a transaction that locks it; sessions of live workers stay open', async () => {
  const run = await running();
  const [still, alive] = [worker, await fixture.worker()];
  await order(run, 'interrupt');
  // The lease is so short that the sessions have been idle for long, too.
  await fixture.rows('UPDATE worker SET lease_ms = 1, lease_until = now() WHERE worker_id = $1', [still]);
  const connectionString = fixture.pool.options.connectionString!;
  const [lost, kept] = await Promise.all(
    [still, alive].map(async (id) => {
      const session = new pg.Client({ connectionString, application_name: workerSessionName(id) });
      await session.connect();
      await session.query('BEGIN');
      return session;
    }),
  );
  // The connection reports its end more than once.
  lost!.on('error', () => undefined);
  const isLost = new Promise((resolve) => lost!.once('end', resolve));
  await lost!.query('SELECT 1 FROM thread_fence WHERE thread_id = $1 FOR UPDATE', [run.threadId]);
  expect(await fixture.engine.rescue.endCancelled()).toMatchObject([{ runId: run.runId }]);
  await isLost;
  await kept!.query('COMMIT');
  await kept!.end();
});

describe('a cancelled run whose worker still has its lease', () => {
  /** Sets the times of the worker's renewal and of the order this many leases back. */
  const pass = (run: ClaimedRun, leases: { sinceRenewal: number; sinceOrder: number }) =>
    fixture.rows(
      `WITH renewed AS (UPDATE worker SET lease_until = now() + make_interval(secs => lease_ms * (1 - $2::float8) / 1000)
         WHERE worker_id = (SELECT worker_id FROM run WHERE run_id = $1) RETURNING lease_ms)
       UPDATE run SET cancel_requested_at = now() - make_interval(secs => lease_ms * $3::float8 / 1000)
       FROM renewed WHERE run_id = $1`,
      [run.runId, leases.sinceRenewal, leases.sinceOrder],
    );
  const endings = {
    'a sweep': async () => (await fixture.engine.sweep()).ended,
    'the rescue': () => fixture.engine.rescue.endCancelled(),
  };

  for (const [who, end] of Object.entries(endings)) {
    it(`is ended by ${who} once the worker was unresponsive for a fifth of the lease, and its other runs stay`, async () => {
      const run = await running();
      await fixture.engine.createRun(aRun({ threadId: await fixture.thread() }));
      const [other] = await fixture.engine.claimRuns(worker, 1);
      await order(run, 'interrupt');
      await pass(run, { sinceRenewal: 0.21, sinceOrder: 0.21 });
      expect((await end()).map(({ runId }) => runId)).toEqual([run.runId]);
      expect(await fixture.engine.getRun(run.threadId, run.runId)).toMatchObject({ status: 'interrupted' });
      await expect(fixture.engine.finishRun(success(run))).rejects.toThrow(FencedError);
      await fixture.engine.finishRun(success(other!));
    });

    it(`is left by ${who} to a worker that renews, or that may not know the order yet`, async () => {
      const run = await running();
      await order(run, 'interrupt');
      await pass(run, { sinceRenewal: 0.15, sinceOrder: 6 });
      expect(await end()).toEqual([]);
      await pass(run, { sinceRenewal: 0.33, sinceOrder: 0.15 });
      expect(await end()).toEqual([]);
      await fixture.engine.finishRun(success(run));
    });
  }
});

it('webhooks of a cancelled run of a lost worker are sent at once: their sender is woken', async () => {
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
  /** Makes the thread's rows older. */
  async function age(threadId: string): Promise<void> {
    await fixture.rows(`UPDATE thread SET updated_at = now() - interval '1 minute' WHERE thread_id = $1`, [threadId]);
    await fixture.rows(
      `UPDATE run SET updated_at = now() - interval '1 minute', ready_at = now() - interval '1 minute' WHERE thread_id = $1`,
      [threadId],
    );
  }

  it('runs again after its fence was lost, or names a run that has ended', async () => {
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
      expect(await fixture.engine.rescue.repairThreads()).toEqual([]);
      await age(threadId);
      expect(await fixture.engine.rescue.repairThreads()).toEqual([threadId]);
      const [claimed] = await fixture.engine.claimRuns(worker, 10);
      expect(claimed?.runId).toBe(run.runId);
      await fixture.engine.finishRun(success(claimed!));
      expect(await threadOf(threadId)).toMatchObject({ status: 'idle' });
    }
  });

  it('is found by a later search when more waits than one search looks at, and by each search after the last', async () => {
    const threadIds: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const threadId = await fixture.thread();
      await fixture.engine.createRun(aRun({ threadId }));
      await age(threadId);
      await fixture.rows('DELETE FROM thread_fence WHERE thread_id = $1', [threadId]);
      threadIds.push(threadId);
    }
    const idle = await fixture.thread();
    await fixture.rows(`UPDATE thread SET status = 'busy' WHERE thread_id = $1`, [idle]);
    await age(idle);
    const search = new StuckThreadSearch({ lookMax: 2 });
    for (let turn = 0; turn < 2; turn += 1) {
      const found: string[] = [];
      for (let count = 0; count < 4; count += 1) {
        const next = await search.next(fixture.pool);
        expect(next.length).toBeLessThanOrEqual(3);
        found.push(...next);
      }
      expect(new Set(found)).toEqual(new Set([...threadIds, idle]));
    }
    expect(new Set(await fixture.engine.rescue.repairThreads())).toEqual(new Set([...threadIds, idle]));
  });

  it('gets back a running run that its fence does not name, to be executed again', async () => {
    const run = await running();
    await fixture.rows('DELETE FROM thread_fence WHERE thread_id = $1', [run.threadId]);
    await lapse();
    await age(run.threadId);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [] });
    expect(await fixture.engine.rescue.repairThreads()).toEqual([run.threadId]);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [run.runId] });
    await fixture.engine.deleteThread(run.threadId);
  });

  it('is idle again when it is busy with nothing; one that has a run is left alone', async () => {
    const busy = await fixture.thread();
    await fixture.engine.createRun(aRun({ threadId: busy }));
    const idle = await fixture.thread();
    await fixture.rows(`UPDATE thread SET status = 'busy' WHERE thread_id = $1`, [idle]);
    await Promise.all([busy, idle, randomUUID()].map(age));
    expect(await fixture.engine.rescue.repairThreads()).toEqual([idle]);
    expect(await threadOf(idle)).toMatchObject({ status: 'idle' });
    expect(await threadOf(busy)).toMatchObject({ status: 'busy' });
    expect(await fixture.engine.rescue.repairThreads()).toEqual([]);
  });
});
