import type { SweepResult } from '@runyard/run-engine';
import { Metrics } from '@runyard/service-kit';
import { waitFor } from '@runyard/test-kit';
import { expect, it, vi } from 'vitest';
import { quietLogger } from '../../test/fakes.ts';
import { WorkerMetrics } from '../worker-metrics.ts';
import { createSweeper, type SweeperOptions } from './sweeper.ts';

const NOTHING: SweepResult = {
  resumedRunIds: [],
  ended: [],
  removedRuns: 0,
  removedResults: 0,
  hasUnclaimedRuns: false,
  hasLockedThreads: false,
  hasRunningRuns: true,
};
const away = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

function sweeperOf(options: Pick<SweeperOptions, 'engine' | 'lease'> & Partial<SweeperOptions>) {
  return createSweeper({
    streams: { append: async () => [] },
    currentEpoch: async () => undefined,
    wakeups: { wake: () => undefined },
    metrics: new WorkerMetrics(new Metrics()),
    logger: quietLogger,
    everyMs: 2,
    idleEveryMs: 10,
    upkeep: { everyMs: 2, idleEveryMs: 10 },
    checkDatabase: async () => undefined,
    graceMs: 5_000,
    ...options,
  });
}

it('workers get the time to renew after an outage of the database, before lapsed leases count', async () => {
  let now = 0;
  const engine = { sweep: vi.fn(async () => NOTHING), takeBackLostRuns: async () => NOTHING };
  const checkDatabase = vi.fn(async () => undefined);
  const asked = vi.fn(() => now);
  const lease = { name: 'sweep', isMine: async () => true, release: async () => undefined };
  const sweeper = sweeperOf({ engine, lease, checkDatabase, now: asked });
  engine.sweep.mockRejectedValueOnce(away);
  checkDatabase.mockRejectedValueOnce(away);
  sweeper.start();
  await waitFor(() => checkDatabase.mock.calls.length === 2);
  const before = asked.mock.calls.length;
  await waitFor(() => asked.mock.calls.length > before + 3);
  expect(engine.sweep).toHaveBeenCalledTimes(1);
  now = 5_000;
  await waitFor(() => engine.sweep.mock.calls.length > 1);
  await sweeper.stop();
});

it('runs of lost workers are taken back by every worker, also while the lease owner of the sweep is among the lost', async () => {
  const wake = vi.fn();
  const engine = {
    sweep: vi.fn(async () => NOTHING),
    takeBackLostRuns: vi.fn(async () => ({ ...NOTHING, resumedRunIds: ['a run'] })),
  };
  const lease = { name: 'sweep', isMine: async () => false, release: async () => undefined };
  const sweeper = sweeperOf({ engine, lease, wakeups: { wake } });
  sweeper.start();
  await waitFor(() => wake.mock.calls.length > 0);
  expect(engine.sweep).not.toHaveBeenCalled();
  await sweeper.stop();
});

it('a sweep that left out locked threads is repeated before its next turn', async () => {
  vi.useFakeTimers();
  const locked = { ...NOTHING, hasLockedThreads: true, hasRunningRuns: false };
  const takeBackLostRuns = vi.fn(async () => NOTHING).mockResolvedValueOnce(locked);
  const lease = { name: 'sweep', isMine: async () => false, release: async () => undefined };
  const sweeper = sweeperOf({ engine: { sweep: async () => NOTHING, takeBackLostRuns }, lease, everyMs: 3_000 });
  try {
    sweeper.start();
    await vi.advanceTimersByTimeAsync(2_900);
    expect(takeBackLostRuns).toHaveBeenCalledTimes(2);
  } finally {
    await sweeper.stop();
    vi.useRealTimers();
  }
});

it('a worker looks for lost runs each second while any run is running, and every five seconds otherwise', async () => {
  vi.useFakeTimers();
  const engine = { sweep: vi.fn(async () => NOTHING), takeBackLostRuns: vi.fn(async () => NOTHING) };
  const lease = { name: 'sweep', isMine: vi.fn(async () => true), release: async () => undefined };
  const upkeep = { everyMs: 5_000, idleEveryMs: 30_000 };
  const sweeper = sweeperOf({ engine, lease, everyMs: 1_000, idleEveryMs: 5_000, upkeep });
  const looks = () => engine.sweep.mock.calls.length + engine.takeBackLostRuns.mock.calls.length;
  try {
    sweeper.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([looks(), engine.sweep.mock.calls.length]).toEqual([61, 13]);
    const idle = { ...NOTHING, hasRunningRuns: false };
    engine.sweep.mockResolvedValue(idle);
    engine.takeBackLostRuns.mockResolvedValue(idle);
    await vi.advanceTimersByTimeAsync(5_000);
    for (const asked of [engine.sweep, engine.takeBackLostRuns, lease.isMine]) asked.mockClear();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([looks(), engine.sweep.mock.calls.length, lease.isMine.mock.calls.length]).toEqual([12, 2, 2]);
    engine.takeBackLostRuns.mockResolvedValue(NOTHING);
    engine.sweep.mockResolvedValue(NOTHING);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(looks()).toBeGreaterThanOrEqual(12 + 10);
  } finally {
    await sweeper.stop();
    vi.useRealTimers();
  }
});
