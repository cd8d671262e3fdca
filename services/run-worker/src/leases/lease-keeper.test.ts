import { type Fence, FencedError, type LeaseRenewal } from '@runyard/run-engine';
import { Metrics } from '@runyard/service-kit';
import { afterEach, expect, it, vi } from 'vitest';
import { claimedRun, quietLogger } from '../../test/fakes.ts';
import { WorkerMetrics } from '../worker-metrics.ts';
import { LeaseKeeper } from './lease-keeper.ts';

const GOOD: LeaseRenewal = { isRegistered: true, orders: [], lost: [], unheld: [] };

let keeper: LeaseKeeper;
afterEach(() => keeper.close());

async function keeping() {
  const run = claimedRun();
  const registry = new Metrics();
  const metrics = new WorkerMetrics(registry);
  let now = 0;
  const engine = {
    registerWorker: vi.fn(async () => undefined),
    renewLease: vi.fn(async () => GOOD),
    releaseRun: vi.fn(async (_fence: Fence) => ({ outcome: 'pending' as const })),
  };
  const runs = { fences: () => [run.fence], cancel: vi.fn(), lose: vi.fn(), loseAll: vi.fn() };
  keeper = new LeaseKeeper({
    engine,
    worker: { workerId: 'w', revisionId: 'r', slots: 1 },
    runs,
    // The lease is long enough for the timer to stay out of the way; the test renews.
    leaseMs: 1_000_000,
    metrics,
    logger: quietLogger,
    now: () => now,
  });
  await keeper.start();
  return { run, engine, runs, registry, pass: (ms: number) => (now += ms) };
}

it('a lease is held from its registration, and from the beginning of each renewal', async () => {
  const { pass } = await keeping();
  expect(keeper.isHeld).toBe(true);
  pass(900_000);
  await keeper.renewNow();
  pass(900_000);
  expect(keeper.isHeld).toBe(true);
  pass(100_000);
  expect(keeper.isHeld).toBe(false);
});

it('a renewal passes on cancel orders and losses', async () => {
  const { run, engine, runs } = await keeping();
  const order = { runId: run.runId, action: 'interrupt' as const, reason: 'asked' };
  const other = claimedRun().fence;
  engine.renewLease.mockResolvedValueOnce({ ...GOOD, orders: [order], lost: [other] });
  await keeper.renewNow();
  expect(runs.cancel).toHaveBeenCalledWith(order);
  expect(runs.lose).toHaveBeenCalledWith(other);
});

it('a lease is renewed oftener while runs are ordered to end: those who wait for the end take an unresponsive worker for dead', async () => {
  vi.useFakeTimers();
  try {
    const { run, engine } = await keeping();
    const order = { runId: run.runId, action: 'interrupt' as const, reason: 'asked' };
    engine.renewLease.mockResolvedValueOnce({ ...GOOD, orders: [order] });
    await keeper.renewNow();
    await vi.advanceTimersByTimeAsync(100_000);
    expect(engine.renewLease).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(engine.renewLease).toHaveBeenCalledTimes(2);
  } finally {
    vi.useRealTimers();
  }
});

it('a lapsed lease is counted once, however long it takes to get it back', async () => {
  const { engine, registry, pass } = await keeping();
  const losses = async () => /lg_api_worker_lease_losses_total (\d+)/.exec(await registry.text())![1];
  engine.renewLease.mockRejectedValue(new Error('away'));
  pass(999_000);
  await keeper.renewNow();
  expect(await losses()).toBe('0');
  pass(1_000);
  for (let round = 0; round < 3; round += 1) await keeper.renewNow();
  expect(await losses()).toBe('1');
  engine.renewLease.mockResolvedValue(GOOD);
  await keeper.renewNow();
  expect(keeper.isHeld).toBe(true);
  expect(await losses()).toBe('1');
});

it('all runs are dropped once the lease may have lapsed, not before', async () => {
  const { engine, runs, pass } = await keeping();
  engine.renewLease.mockRejectedValue(new Error('away'));
  pass(999_000);
  await keeper.renewNow();
  expect(runs.loseAll).not.toHaveBeenCalled();
  pass(1_000);
  await keeper.renewNow();
  expect(runs.loseAll).toHaveBeenCalledOnce();
});

it('a worker whose registration was lost registers again', async () => {
  const { engine } = await keeping();
  engine.renewLease.mockResolvedValueOnce({ ...GOOD, isRegistered: false });
  await keeper.renewNow();
  expect(engine.registerWorker).toHaveBeenCalledTimes(2);
});

it('a run whose claim never arrived is given back once that is certain', async () => {
  const { run, engine } = await keeping();
  const stray = claimedRun().fence;
  engine.renewLease.mockResolvedValue({ ...GOOD, unheld: [stray] });
  await keeper.renewNow();
  expect(engine.releaseRun).not.toHaveBeenCalled();
  await keeper.renewNow();
  expect(engine.releaseRun).toHaveBeenCalledExactlyOnceWith(stray, {
    cause: expect.objectContaining({ error: 'WorkerLost' }),
  });
  engine.renewLease.mockResolvedValue({ ...GOOD, unheld: [run.fence] });
  await keeper.renewNow();
  await keeper.renewNow();
  expect(engine.releaseRun).toHaveBeenCalledTimes(1);
});

it('a renewal waits for no run that is given back, and none is given back twice at a time', async () => {
  const { engine } = await keeping();
  const stray = claimedRun().fence;
  let release = () => {};
  engine.releaseRun.mockReturnValue(
    new Promise((resolve) => {
      release = () => resolve({ outcome: 'pending' });
    }),
  );
  engine.renewLease.mockResolvedValue({ ...GOOD, unheld: [stray] });
  for (let round = 0; round < 4; round += 1) await keeper.renewNow();
  expect(engine.renewLease).toHaveBeenCalledTimes(4);
  expect(engine.releaseRun).toHaveBeenCalledOnce();
  const closed = keeper.close();
  release();
  await closed;
});

it('a dropped run is given back at once when the database is back and nobody else took it', async () => {
  const { run, engine, runs, pass } = await keeping();
  const taken = claimedRun().fence;
  engine.renewLease.mockRejectedValueOnce(new Error('away'));
  runs.fences = () => [run.fence, taken];
  pass(1_000_000);
  await keeper.renewNow();
  runs.fences = () => [];
  engine.releaseRun.mockRejectedValueOnce(new FencedError(taken.threadId, taken.epoch));
  engine.renewLease.mockResolvedValue({ ...GOOD, unheld: [taken, run.fence] });
  await keeper.renewNow();
  expect(engine.releaseRun.mock.calls.map(([fence]) => fence)).toEqual([taken, run.fence]);
  expect(keeper.isHeld).toBe(true);
});

it('a renewal that is requested during another one follows it', async () => {
  const { engine } = await keeping();
  const [first, second] = [keeper.renewNow(), keeper.renewNow()];
  await Promise.all([first, second]);
  expect(engine.renewLease).toHaveBeenCalledTimes(2);
});
