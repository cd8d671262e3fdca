import { randomUUID } from 'node:crypto';
import { isTimeoutOrOutOfMemory, toUnavailableError } from '@runyard/database';
import { waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ThreadHeldError } from '../src/errors.ts';
import { WaitingWrites } from '../src/runs/waiting-writes.ts';
import { aRun, type EngineFixture, openEngine, success } from './engine-fixture.ts';

const onTakeBackFailure = vi.fn();

let fixture: EngineFixture;
beforeEach(async () => {
  onTakeBackFailure.mockClear();
  fixture = await openEngine({ onTakeBackFailure });
});
afterEach(() => fixture.close());

/** Locks the thread in another transaction until `letGo`. */
async function lock(threadId: string): Promise<{ letGo(): Promise<void> }> {
  const client: pg.PoolClient = await fixture.pool.connect();
  await client.query('BEGIN');
  await client.query('SELECT 1 FROM thread WHERE thread_id = $1 FOR UPDATE', [threadId]);
  return {
    async letGo() {
      await client.query('COMMIT');
      client.release();
    },
  };
}

const waitingForLock = () =>
  waitFor(
    async () =>
      (
        await fixture.rows(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
      ).length === 1,
    { what: 'one transaction to wait' },
  );

async function running(threadId: string) {
  const worker = await fixture.worker();
  await fixture.engine.createRun(aRun({ threadId }));
  const [run] = await fixture.engine.claimRuns(worker, 1);
  return { run: run!, worker };
}

/** Makes Postgres cancel statements about the runs of this thread, as after a timeout. */
async function tooSlow(threadId: string): Promise<void> {
  await fixture.rows(`CREATE FUNCTION take_too_long() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014'; END $$`);
  await fixture.rows(`CREATE TRIGGER too_slow BEFORE UPDATE ON run FOR EACH ROW
    WHEN (OLD.thread_id = '${threadId}') EXECUTE FUNCTION take_too_long()`);
}

describe('while another transaction has locked a thread', () => {
  it('runs of other threads are accepted, and those of this one wait until it is free', async () => {
    const [held, other] = [await fixture.thread(), await fixture.thread()];
    const locked = await lock(held);
    const waiting = ['enqueue', 'interrupt'].map((multitaskStrategy) =>
      fixture.engine.createRun(aRun({ threadId: held, multitaskStrategy: multitaskStrategy as 'enqueue' })),
    );
    await waitingForLock();
    const isNew = aRun({ threadId: randomUUID(), ifThreadMissing: 'create' });
    for (const run of [aRun({ threadId: other }), aRun(), isNew]) {
      expect(await fixture.engine.createRun(run)).toMatchObject({ run: { status: 'pending' } });
    }
    await locked.letGo();
    const [first, second] = await Promise.all(waiting);
    expect(first!.run.threadId).toBe(held);
    expect(second!.cancelled).toMatchObject([{ runId: first!.run.runId }]);
  });

  it('runs of other threads end, and that of this one ends once it is free', async () => {
    const { run: held } = await running(await fixture.thread());
    const { run: other } = await running(await fixture.thread());
    const locked = await lock(held.threadId);
    const waiting = fixture.engine.finishRun(success(held));
    expect(await fixture.engine.finishRun(success(other))).toMatchObject({ status: 'success' });
    await waitingForLock();
    await locked.letGo();
    expect(await waiting).toMatchObject({ status: 'success' });
  });

  it('a sweep takes back the runs of other threads, and the run of this one at the next sweep', async () => {
    const held = await running(await fixture.thread());
    const other = await running(await fixture.thread());
    await fixture.rows('UPDATE worker SET lease_until = now()');
    const locked = await lock(held.run.threadId);
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [other.run.runId], hasLockedThreads: true });
    await locked.letGo();
    expect(await fixture.engine.sweep()).toMatchObject({ resumedRunIds: [held.run.runId], hasLockedThreads: false });
  });

  it('a prune skips it, like one with a run in flight', async () => {
    const [held, other] = [await fixture.thread(), await fixture.thread()];
    const locked = await lock(held);
    expect((await fixture.engine.histories.prune([held, other], 'delete')).deleted).toMatchObject([
      { threadId: other },
    ]);
    await locked.letGo();
  });
});

describe('a write that waits for its thread', () => {
  afterEach(() => void vi.useRealTimers());

  it('is refused with 503 once a request has waited long enough, and so are those behind it', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const begun: number[] = [];
    let fail!: (error: Error) => void;
    const writes = new WaitingWrites<string, void>({
      name: 'test',
      threadIdOf: (threadId) => threadId,
      waitMs: 5_000,
      write: (_, lockTimeoutMs) => {
        begun.push(lockTimeoutMs);
        return new Promise((_resolve, reject) => {
          fail = reject;
        });
      },
    });
    const results = Promise.allSettled([writes.submit('t'), writes.submit('t')]);
    await new Promise((resolve) => setImmediate(resolve));
    expect([begun, writes.has('t')]).toEqual([[5_000], true]);
    vi.advanceTimersByTime(5_000);
    fail(Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }));
    const refusals = (await results).map((result) => toUnavailableError((result as PromiseRejectedResult).reason));
    expect(refusals).toMatchObject([1, 2].map(() => ({ status: 503, headers: { 'retry-after': '1' } })));
    expect(refusals[1]).toBeInstanceOf(ThreadHeldError);
    expect([begun.length, writes.has('t')]).toEqual([1, false]);
    await writes.close();
  });
});

describe('a run for which the database takes too long', () => {
  it('is the only one that fails to end in its batch', async () => {
    const slow = await running(await fixture.thread());
    const others = [await running(await fixture.thread()), await running(await fixture.thread())];
    await tooSlow(slow.run.threadId);
    const [failed, ...ended] = await Promise.allSettled(
      [slow, ...others].map(({ run }) => fixture.engine.finishRun(success(run))),
    );
    expect(isTimeoutOrOutOfMemory((failed as PromiseRejectedResult).reason)).toBe(true);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('is reported and left by a sweep, which takes back the others', async () => {
    const slow = await running(await fixture.thread());
    const others = [await running(await fixture.thread()), await running(await fixture.thread())];
    await tooSlow(slow.run.threadId);
    await fixture.rows('UPDATE worker SET lease_until = now()');
    const { resumedRunIds } = await fixture.engine.sweep();
    expect(new Set(resumedRunIds)).toEqual(new Set(others.map(({ run }) => run.runId)));
    expect(onTakeBackFailure.mock.calls).toEqual([[slow.run.threadId, expect.objectContaining({ code: '57014' })]]);
  });
});
