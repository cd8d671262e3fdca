import { randomUUID } from 'node:crypto';
import { conforms, RunCancelled, RunFinished } from '@runyard/contracts';
import { withTransaction } from '@runyard/database';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunEvents } from '../src/run-events.ts';
import { requestCancel } from '../src/runs/cancel-runs.ts';
import type { ClaimedRun } from '../src/runs/types.ts';
import { aRun, type EngineFixture, openEngine, success, writeCheckpointUnderFence } from './engine-fixture.ts';

const REASON = 'interrupt requested via POST /threads/{thread_id}/runs/{run_id}/cancel';

let fixture: EngineFixture;
let worker: string;
beforeEach(async () => {
  fixture = await openEngine();
  worker = await fixture.worker();
});
afterEach(() => fixture.close());

async function runningOn(threadId: string): Promise<ClaimedRun> {
  await fixture.engine.createRun(aRun({ threadId }));
  const [run] = await fixture.engine.claimRuns(worker, 10);
  return run!;
}

/** Makes a run that waits again after an attempt that wrote a checkpoint. */
async function lostAttempt(checkpointId: string) {
  const threadId = await fixture.thread();
  const run = await runningOn(threadId);
  await write(run, checkpointId);
  await fixture.engine.releaseRun(run.fence, { failure: { error: 'Lost', message: 'away' } });
  return { threadId, runId: run.runId, place: { threadId, runIds: [run.runId] } };
}

function endsTold(threadId: string) {
  return fixture.rows(`SELECT 1 FROM outbox WHERE event->>'type' = 'runyard.run.finished' AND key = $1`, [threadId]);
}

async function threadOf(threadId: string) {
  const [thread] = await fixture.rows('SELECT status, error FROM thread WHERE thread_id = $1', [threadId]);
  return thread;
}

describe('the event of a cancelled run', () => {
  const eventsOf = async (threadId: string) => {
    const rows = await fixture.rows('SELECT event FROM outbox WHERE key = $1 ORDER BY id', [threadId]);
    return rows.map(({ event }) => event as { type: string; data: Record<string, unknown> });
  };

  it('is written when a run gets a cancel order, and when the order becomes stronger, not when it is repeated', async () => {
    const threadId = await fixture.thread();
    const { runId, assistantId } = await runningOn(threadId);
    for (const action of ['interrupt', 'interrupt', 'rollback', 'interrupt'] as const) {
      await fixture.engine.requestCancel({ threadId, runIds: [runId] }, action, REASON);
    }
    const orders = (await eventsOf(threadId)).filter(({ type }) => type === 'runyard.run.cancelled');
    const run = { deployment_id: 'test', run_id: runId, thread_id: threadId, assistant_id: assistantId, attempt: 1 };
    expect(orders.map(({ data }) => data)).toEqual([
      { ...run, action: 'interrupt' },
      { ...run, action: 'rollback' },
    ]);
    expect(orders.every((event) => conforms(RunCancelled, event))).toBe(true);
  });

  it('comes before the event of its end, even when the run never began', async () => {
    const threadId = await fixture.thread();
    const { run } = await fixture.engine.createRun(aRun({ threadId }));
    await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'interrupt', REASON);
    const types = (await eventsOf(threadId)).map(({ type }) => type);
    expect(types).toEqual(['runyard.run.created', 'runyard.run.cancelled', 'runyard.run.finished']);
  });

  it.each([1, 2_000])(
    'is written by the statement that cancels when %i runs of a thread are cancelled',
    async (runs) => {
      const threadId = await fixture.thread();
      await fixture.rows(
        `INSERT INTO run (run_id, thread_id, assistant_id, kwargs, keeps_thread)
       SELECT gen_random_uuid(), $1, gen_random_uuid(), '{}', true FROM generate_series(1, $2::integer)`,
        [threadId, runs],
      );
      const sent: { name: string; values: unknown[] }[] = [];
      await requestCancel(
        fixture.pool,
        { selection: { threadId }, action: 'interrupt', reason: REASON },
        (work) =>
          withTransaction(fixture.pool, (client) => {
            const query = vi.spyOn(client, 'query');
            return work(client).finally(() => {
              sent.push(...query.mock.calls.map(([statement]) => statement as unknown as (typeof sent)[number]));
              query.mockRestore();
            });
          }),
        new RunEvents('test', '/runyard/test'),
      );
      const settling = ['engine_refresh_heads', 'engine_reset_thread_status'];
      const names = sent.map(({ name }) => name);
      expect(names).toEqual(['engine_lock_threads', 'engine_lock_fences', 'engine_cancel_runs', ...settling]);
      // Its look at the waiting runs of the thread is one, not one for each of them.
      expect(sent[3]!.values).toEqual([[threadId]]);
      const events = await eventsOf(threadId);
      expect(events.map(({ type }) => type.split('.').at(-1))).toEqual(
        Array.from({ length: runs }, () => ['cancelled', 'finished']).flat(),
      );
      const ids = await fixture.rows('SELECT run_id FROM run WHERE thread_id = $1 ORDER BY seq', [threadId]);
      expect(events.map(({ data }) => data.run_id)).toEqual(ids.flatMap(({ run_id: id }) => [id, id]));
      expect(conforms(RunCancelled, events[0]) && conforms(RunFinished, events[1])).toBe(true);
    },
  );
});

describe('a cancelled run', () => {
  it('that waits is interrupted at once and never claimed, and its thread is idle', async () => {
    const threadId = await fixture.thread();
    const { run } = await fixture.engine.createRun(aRun({ threadId }));
    const cancelled = await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'rollback', REASON);
    expect(cancelled).toMatchObject([{ runId: run.runId, outcome: 'ended' }]);
    expect(await fixture.engine.getRun(threadId, run.runId)).toMatchObject({ status: 'interrupted' });
    expect(await threadOf(threadId)).toEqual({ status: 'idle', error: null });
    expect(await fixture.engine.claimRuns(worker, 10)).toEqual([]);
  });

  it('that waits without a thread leaves no fence', async () => {
    const { run } = await fixture.engine.createRun(aRun());
    await fixture.engine.requestCancel({ threadId: run.threadId, runIds: [run.runId] }, 'interrupt', REASON);
    expect(await fixture.rows('SELECT 1 FROM thread_fence')).toEqual([]);
  });

  it("that runs gets the order with its worker's lease, and its thread says why it is interrupted", async () => {
    const threadId = await fixture.thread();
    const run = await runningOn(threadId);
    const [cancelled] = await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'interrupt', REASON);
    expect(cancelled).toMatchObject({ outcome: 'ordered', fence: { epoch: run.fence.epoch } });
    expect(await fixture.engine.renewLease(worker, [run.fence])).toEqual({
      isRegistered: true,
      orders: [{ runId: run.runId, action: 'interrupt', reason: REASON }],
      lost: [],
      unheld: [],
    });
    const values = Buffer.from('{"so":"far"}');
    await fixture.engine.finishRun(success(run, { status: 'interrupted', threadStatus: 'interrupted', values }));
    expect(await fixture.engine.readOutcome(run)).toMatchObject({ status: 'interrupted', values });
    expect(await threadOf(threadId)).toEqual({
      status: 'interrupted',
      error: { error: 'UserInterrupt', message: REASON },
    });
  });

  it('that is rolled back is deleted with its checkpoints, and the thread is as before', async () => {
    const threadId = await fixture.thread();
    const earlier = await runningOn(threadId);
    await write(earlier, 'before');
    const ended = await fixture.engine.finishRun(
      success(earlier, { values: Buffer.from('1'), checkpointId: 'before' }),
    );
    expect(ended.cancelledForMs).toBeNull();
    const run = await runningOn(threadId);
    await write(run, 'during');
    await fixture.pool.query(
      `INSERT INTO checkpoint_write (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, run_id, channel, type, data)
       VALUES ($1, '', 'before', 'resume', -4, $2, '__resume__', 'json', '1')`,
      [threadId, run.runId],
    );
    await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'rollback', 'rollback requested');
    const finished = await fixture.engine.finishRun(success(run, { values: Buffer.from('2'), checkpointId: 'during' }));
    expect(finished.cancelledForMs).toBeGreaterThan(0);
    expect(finished).toMatchObject({ status: 'interrupted', isRolledBack: true });
    expect(await fixture.engine.getRun(threadId, run.runId)).toBeUndefined();
    expect(await threadOf(threadId)).toEqual({
      status: 'idle',
      error: { error: 'UserRollback', message: 'rollback requested' },
    });
    for (const table of ['checkpoint', 'checkpoint_blob', 'checkpoint_write']) {
      expect(await fixture.rows(`SELECT checkpoint_id FROM ${table}`)).toEqual([{ checkpoint_id: 'before' }]);
    }
    expect(await fixture.rows('SELECT checkpoint_id, "values" FROM thread_state')).toEqual([
      { checkpoint_id: 'before', values: Buffer.from('1') },
    ]);
  });

  it('that waits for another attempt ends as its order says, and a rollback deletes it completely', async () => {
    const reason = 'rollback requested';
    const run = await lostAttempt(reason);
    const [cancelled] = await fixture.engine.requestCancel(run.place, 'rollback', reason);
    expect(cancelled).toMatchObject({ outcome: 'ended', action: 'rollback' });
    expect(await fixture.engine.getRun(run.threadId, run.runId)).toBeUndefined();
    expect(await threadOf(run.threadId)).toEqual({ status: 'idle', error: { error: 'UserRollback', message: reason } });
    for (const table of ['checkpoint', 'checkpoint_blob', 'checkpoint_write']) {
      expect(await fixture.rows(`SELECT 1 FROM ${table}`)).toEqual([]);
    }
    expect(await endsTold(run.threadId)).toHaveLength(1);

    const kept = await lostAttempt(REASON);
    expect(await fixture.engine.requestCancel(kept.place, 'interrupt', REASON)).toMatchObject([{ outcome: 'ended' }]);
    expect(await fixture.engine.getRun(kept.threadId, kept.runId)).toMatchObject({ status: 'interrupted' });
    expect(await threadOf(kept.threadId)).toEqual({
      status: 'interrupted',
      error: { error: 'UserInterrupt', message: REASON },
    });
    expect(await fixture.rows('SELECT checkpoint_id FROM checkpoint')).toHaveLength(1);
    expect(await endsTold(kept.threadId)).toHaveLength(1);
  });

  it('that waits for another attempt is replaced by a new run, and the thread is busy with that one', async () => {
    for (const multitaskStrategy of ['interrupt', 'rollback'] as const) {
      const { threadId } = await lostAttempt(REASON);
      const { run, cancelled } = await fixture.engine.createRun(aRun({ threadId, multitaskStrategy }));
      expect(cancelled).toMatchObject([{ outcome: 'ended', action: multitaskStrategy }]);
      expect(await threadOf(threadId)).toMatchObject({ status: 'busy' });
      expect(await fixture.engine.claimRuns(worker, 10)).toMatchObject([{ runId: run.runId }]);
    }
  });

  it.each([
    { order: 'a cancel', failed: false },
    { order: 'a newer run', failed: false },
    { order: 'a newer run', failed: true },
  ])(
    'that is to be rolled back, by $order, leaves nothing when it is deleted before its worker obeys (retried: $failed)',
    async ({ order, failed }) => {
      const threadId = await fixture.thread();
      const earlier = await runningOn(threadId);
      await write(earlier, 'before');
      await fixture.engine.finishRun(success(earlier, { checkpointId: 'before' }));
      const run = await runningOn(threadId);
      await write(run, 'during');
      if (failed) await fixture.engine.releaseRun(run.fence, { failure: { error: 'Lost', message: 'away' } });
      const [attempt] = failed ? await fixture.engine.claimRuns(worker, 10) : [run];
      if (order === 'a cancel') {
        await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'rollback', REASON);
      } else await fixture.engine.createRun(aRun({ threadId, multitaskStrategy: 'rollback' }));
      expect(await fixture.engine.deleteRun(threadId, run.runId)).toMatchObject({ runId: run.runId });
      await expect(fixture.engine.finishRun(success(attempt!))).rejects.toMatchObject({ name: 'FencedError' });
      await expect(fixture.engine.deleteRun(threadId, run.runId)).rejects.toMatchObject({ status: 404 });
      for (const table of ['checkpoint', 'checkpoint_blob', 'checkpoint_write']) {
        expect(await fixture.rows(`SELECT checkpoint_id FROM ${table}`)).toEqual([{ checkpoint_id: 'before' }]);
      }
      expect(await fixture.rows('SELECT checkpoint_id FROM thread_state')).toEqual([{ checkpoint_id: 'before' }]);
      expect(await endsTold(threadId)).toHaveLength(2);
      const next = await fixture.engine.claimRuns(worker, 10);
      expect(next).toHaveLength(order === 'a cancel' ? 0 : 1);
      expect(await threadOf(threadId)).toMatchObject({ status: order === 'a cancel' ? 'idle' : 'busy' });
    },
  );

  it('is not found when it has ended', async () => {
    const threadId = await fixture.thread();
    const run = await runningOn(threadId);
    await fixture.engine.finishRun(success(run));
    expect(await fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'interrupt', REASON)).toEqual([]);
    expect(await fixture.engine.requestCancel({ threadId, runIds: [randomUUID()] }, 'interrupt', REASON)).toEqual([]);
  });

  it('whose cancel races its finish ends with exactly one status and one event', async () => {
    for (let round = 0; round < 25; round += 1) {
      const threadId = await fixture.thread();
      const run = await runningOn(threadId);
      const [cancelled, finished] = await Promise.all([
        fixture.engine.requestCancel({ threadId, runIds: [run.runId] }, 'interrupt', REASON),
        fixture.engine.finishRun(success(run)),
      ]);
      expect(finished.status).toBe(cancelled.length > 0 ? 'interrupted' : 'success');
      expect(await fixture.engine.getRun(threadId, run.runId)).toMatchObject({ status: finished.status });
      expect(await endsTold(threadId)).toHaveLength(1);
    }
  });
});

it('cancelling by status reaches every run with it', async () => {
  const threads = await Promise.all(Array.from({ length: 3 }, () => fixture.thread()));
  for (const threadId of threads) await runningOn(threadId);
  for (const threadId of threads) await fixture.engine.createRun(aRun({ threadId }));
  expect(await fixture.engine.requestCancel({ status: 'pending' }, 'interrupt', REASON)).toHaveLength(3);
  const running = await fixture.engine.requestCancel({ status: 'all' }, 'interrupt', REASON);
  expect(running.map(({ outcome }) => outcome)).toEqual(['ordered', 'ordered', 'ordered']);
});

it('cancelling by status ends while clients create runs, and leaves theirs', async () => {
  const before = await fixture.engine.createRun(aRun());
  const later: string[] = [];
  const events = new RunEvents('test', '/runyard/test');
  const request = { selection: { status: 'all' }, action: 'interrupt', reason: REASON } as const;
  const cancelled = await requestCancel(
    fixture.pool,
    request,
    async (work) => {
      // One more run is accepted before each step.
      later.push((await fixture.engine.createRun(aRun())).run.runId);
      return withTransaction(fixture.pool, work);
    },
    events,
  );
  expect(cancelled.map(({ runId }) => runId)).toEqual([before.run.runId]);
  expect((await fixture.engine.claimRuns(worker, 10)).map(({ runId }) => runId)).toEqual(later);
});

it('cancelling by status makes earlier orders stronger', async () => {
  const run = await runningOn(await fixture.thread());
  await fixture.engine.requestCancel({ status: 'running' }, 'interrupt', REASON);
  expect(await fixture.engine.requestCancel({ status: 'running' }, 'interrupt', REASON)).toEqual([]);
  expect(await fixture.engine.requestCancel({ status: 'running' }, 'rollback', REASON)).toHaveLength(1);
  expect(await fixture.engine.finishRun(success(run))).toMatchObject({ isRolledBack: true });
});

it('cancelling by assistant reaches its runs on every thread and no other run', async () => {
  const assistantId = randomUUID();
  const [first, second] = await Promise.all([fixture.thread(), fixture.thread()]);
  const other = await runningOn(first!);
  const waiting = await fixture.engine.createRun(aRun({ threadId: first!, assistantId }));
  const alone = await fixture.engine.createRun(aRun({ threadId: second!, assistantId }));
  const cancelled = await fixture.engine.requestCancel({ assistantId }, 'interrupt', REASON);
  expect(cancelled.map(({ runId }) => runId).sort()).toEqual([waiting.run.runId, alone.run.runId].sort());
  expect(await fixture.engine.renewLease(worker, [other.fence])).toMatchObject({ orders: [] });
});

async function write(run: ClaimedRun, checkpointId: string): Promise<void> {
  const client = await fixture.pool.connect();
  expect(await writeCheckpointUnderFence(client, run, checkpointId)).toBe('written');
  client.release();
}

it('a cancel of a status or an assistant reaches every thread once, by indexes, however many there are', async () => {
  const assistantId = randomUUID();
  await fixture.rows(
    `WITH made AS (INSERT INTO thread_fence (thread_id) SELECT gen_random_uuid() FROM generate_series(1, 1100) RETURNING thread_id)
     INSERT INTO run (run_id, thread_id, assistant_id, kwargs, keeps_thread)
     SELECT gen_random_uuid(), thread_id, $1, '{}', false FROM made`,
    [assistantId],
  );
  const { run: other } = await fixture.engine.createRun(aRun());
  const cancelled = await fixture.engine.requestCancel({ assistantId }, 'interrupt', REASON);
  expect(new Set(cancelled.map(({ runId }) => runId)).size).toBe(1100);
  expect(cancelled).toHaveLength(1100);
  expect(await fixture.engine.requestCancel({ status: 'all' }, 'interrupt', REASON)).toMatchObject([
    { runId: other.runId },
  ]);
});
