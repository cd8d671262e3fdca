import type { ClaimedRun, ClaimOptions, DelayedRun } from '@runyard/run-engine';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { claimedRun, quietLogger, settle, workerMetrics } from '../../test/fakes.ts';
import { ClaimLoop, type ClaimLoopOptions } from './claim-loop.ts';

let loop: ClaimLoop;
afterEach(() => loop.stop());

function claiming({ slots = 2 }: { slots?: number } = {}) {
  const waiting: ClaimedRun[] = [];
  /** Runs that are not decrypted when they are claimed. */
  const delayed: DelayedRun[] = [];
  const held: DelayedRun[] = [];
  const started: ClaimedRun[] = [];
  const limits: number[] = [];
  let free = slots;
  let wakeUp = () => {};
  const passOn = vi.fn();
  const claimRuns = vi.fn(async (_workerId: string, limit: number, { onDelayed }: ClaimOptions = {}) => {
    limits.push(limit);
    const late = delayed.splice(0, limit);
    for (const run of late) onDelayed?.(run);
    return waiting.splice(0, limit - late.length);
  });
  const mayClaim = vi.fn(async () => true);
  const others = { awaited: undefined as ReturnType<NonNullable<ClaimLoopOptions['awaited']>>, isolatedHosts: 3 };
  loop = new ClaimLoop({
    engine: { claimRuns, mayClaim },
    workerId: 'worker',
    freeSlots: () => free,
    awaited: () => others.awaited,
    freeIsolatedHosts: () => others.isolatedHosts,
    start: (run) => {
      started.push(run);
      free -= 1;
    },
    hold: (run) => {
      held.push(run);
      free -= 1;
    },
    nextWakeup: () =>
      new Promise((resolve) => {
        wakeUp = resolve;
      }),
    passOn,
    metrics: workerMetrics(),
    logger: quietLogger,
    pollEveryMs: 1_000_000,
  });
  const end = () => {
    free += 1;
    loop.slotFreed();
  };
  return { waiting, delayed, held, started, limits, passOn, claimRuns, mayClaim, others, wakeUp: () => wakeUp(), end };
}

it('the claim loop looks once at the start and then waits to be woken', async () => {
  const { waiting, started, claimRuns, wakeUp } = claiming();
  loop.start();
  await settle();
  expect(claimRuns).toHaveBeenCalledTimes(1);
  waiting.push(claimedRun());
  await settle();
  expect(started).toEqual([]);
  wakeUp();
  await settle();
  expect(started).toHaveLength(1);
});

it('is woken in its own process while it has room and goes on, and says so', async () => {
  const { waiting, started, passOn, end } = claiming({ slots: 1 });
  loop.start();
  await settle();
  waiting.push(claimedRun(), claimedRun());
  expect(loop.wakeIfFree()).toBe(true);
  await settle();
  expect(started).toHaveLength(1);
  expect(loop.wakeIfFree()).toBe(false);
  end();
  await settle();
  expect(started).toHaveLength(2);
  end();
  await settle();
  expect(passOn).toHaveBeenCalledTimes(2);
  expect(loop.wakeIfFree()).toBe(true);
  await loop.stop();
  // It was woken and has not looked.
  expect(passOn).toHaveBeenCalledTimes(3);
  expect(loop.wakeIfFree()).toBe(false);
});

it('wake-ups for runs of another revision are passed on, and left to others until its turn comes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { waiting, started, claimRuns, mayClaim, passOn, wakeUp } = claiming();
  loop.start();
  await settle();
  mayClaim.mockResolvedValue(false);
  wakeUp();
  await settle();
  expect(passOn).toHaveBeenCalledTimes(1);
  expect(loop.wakeIfFree()).toBe(false);
  const claims = claimRuns.mock.calls.length;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(claimRuns).toHaveBeenCalledTimes(claims);
  mayClaim.mockResolvedValue(true);
  waiting.push(claimedRun());
  await vi.advanceTimersByTimeAsync(1_000);
  await settle();
  expect(started).toHaveLength(1);
  expect(loop.wakeIfFree()).toBe(true);
});

it('runs that are not decrypted yet take slots, and the claim loop goes on without them', async () => {
  const { waiting, delayed, held, started, limits, end } = claiming({ slots: 3 });
  const { runId, fence } = claimedRun();
  delayed.push({ runId, fence, run: new Promise(() => undefined) });
  waiting.push(claimedRun(), claimedRun(), claimedRun());
  loop.start();
  await settle();
  expect([held.length, started.length]).toEqual([1, 2]);
  end();
  await settle();
  expect([held.length, started.length, limits]).toEqual([1, 3, [3, 1]]);
});

it('the claim loop never takes more than it has slots, wakes others when there is more, and continues when a slot is free', async () => {
  const { waiting, started, limits, passOn, end } = claiming({ slots: 2 });
  waiting.push(...Array.from({ length: 5 }, () => claimedRun()));
  loop.start();
  await settle();
  expect(started).toHaveLength(2);
  expect(passOn).toHaveBeenCalled();
  end();
  await settle();
  expect(started).toHaveLength(3);
  expect(limits).toEqual([2, 1]);
});

it('the claim loop does not look again after a run when the last look left nothing', async () => {
  const { waiting, claimRuns, end } = claiming();
  waiting.push(claimedRun());
  loop.start();
  await settle();
  expect(claimRuns).toHaveBeenCalledTimes(1);
  end();
  await settle();
  expect(claimRuns).toHaveBeenCalledTimes(1);
  loop.wake();
  await settle();
  expect(claimRuns).toHaveBeenCalledTimes(2);
});

it('a wake-up that comes when the slots are full is passed on', async () => {
  const { waiting, passOn, wakeUp } = claiming({ slots: 1 });
  loop.start();
  await settle();
  waiting.push(claimedRun());
  loop.wake();
  await settle();
  passOn.mockClear();
  wakeUp();
  await settle();
  expect(passOn).toHaveBeenCalledOnce();
});

it('the claim loop takes what its runs wait for although no slot is free, and nothing else', async () => {
  const { waiting, started, claimRuns, others } = claiming({ slots: 1 });
  waiting.push(claimedRun());
  loop.start();
  await settle();
  const among = { runIds: [], threadIds: ['thread'] };
  others.awaited = { among, limit: 3 };
  waiting.push(claimedRun());
  loop.runsAwaited();
  await settle();
  expect(started).toHaveLength(2);
  expect(claimRuns.mock.lastCall).toEqual(['worker', 3, { among, quarantinedMax: 3, onDelayed: expect.any(Function) }]);
  // It is asked once for each time that a run begins to wait for something new.
  expect(claimRuns).toHaveBeenCalledTimes(2);
});

it('the claim loop takes only as many quarantined runs as would get an isolated host at once', async () => {
  const { claimRuns, others } = claiming();
  others.isolatedHosts = 1;
  loop.start();
  await settle();
  expect(claimRuns.mock.lastCall).toEqual(['worker', 2, expect.objectContaining({ quarantinedMax: 1 })]);
});

it('a claim that fails is repeated at the next occasion', async () => {
  const { waiting, started, claimRuns } = claiming();
  claimRuns.mockRejectedValueOnce(new Error('away'));
  waiting.push(claimedRun());
  loop.start();
  await settle();
  expect(started).toEqual([]);
  loop.wake();
  await settle();
  expect(started).toHaveLength(1);
});

it('the claim loop claims nothing after a stop, and has started what was claimed by then', async () => {
  const { waiting, started, claimRuns } = claiming();
  waiting.push(claimedRun());
  loop.start();
  await loop.stop();
  expect(started).toHaveLength(1);
  const claims = claimRuns.mock.calls.length;
  loop.wake();
  await settle();
  expect(claimRuns).toHaveBeenCalledTimes(claims);
});
