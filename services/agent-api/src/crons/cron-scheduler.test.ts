import type { FiredSlot } from '@runyard/run-engine';
import { silentLogger } from '@runyard/service-kit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CronScheduler } from './cron-scheduler.ts';

/** Fakes crons whose next slot is at a moment of the fake clock. */
class FakeCrons {
  dueAt: number | undefined;
  asked = 0;
  fired: number[] = [];
  /** Errors that the next calls throw instead. */
  failures: Error[] = [];
  isTakenElsewhere = false;
  /** Why a slot that is fired stays due. */
  postponement: Error | undefined;
  /** True when a cron is due at once, but was paused by a process that could not read its schedule. */
  isPaused = false;

  async repairNextSlots(): Promise<number> {
    if (!this.isPaused) return 0;
    this.isPaused = false;
    this.dueAt = Date.now();
    return 1;
  }

  async millisecondsToNextSlot(): Promise<number | undefined> {
    this.asked += 1;
    const failure = this.failures.shift();
    if (failure) throw failure;
    return this.dueAt === undefined ? undefined : Math.max(0, this.dueAt - Date.now());
  }

  async fire(): Promise<FiredSlot[]> {
    if (this.isTakenElsewhere) return [];
    this.dueAt = undefined;
    this.fired.push(Date.now());
    const { postponement } = this;
    return [{ cronId: 'c', slot: new Date(), cancelled: [], ...(postponement && { postponement }) }];
  }
}

let crons: FakeCrons;
let scheduler: CronScheduler;
let firings: number;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  crons = new FakeCrons();
  firings = 0;
  scheduler = new CronScheduler({
    crons,
    graphIds: ['agent'],
    toRun: () => {
      throw new Error('not asked here');
    },
    onFired: () => {
      firings += 1;
    },
    logger: silentLogger,
  });
});
afterEach(async () => {
  await scheduler.stop();
  vi.useRealTimers();
});

describe('a cron scheduler', () => {
  it('sleeps until the slot and fires it then', async () => {
    crons.dueAt = 7_000;
    scheduler.start();
    await advance(6_999);
    expect(crons.fired).toEqual([]);
    expect(crons.asked).toBe(1);
    await advance(1);
    expect(crons.fired).toEqual([7_000]);
    expect(firings).toBe(1);
  });

  it('looks seldom while no slot is to come', async () => {
    scheduler.start();
    await advance(59_999);
    expect(crons.asked).toBe(2);
  });

  it('is woken by a change, also by one that comes while it looks', async () => {
    scheduler.start();
    await advance(100);
    crons.dueAt = 5_000;
    scheduler.wake();
    await advance(4_900);
    expect(crons.fired).toEqual([5_000]);
    scheduler.wake();
    crons.dueAt = 5_001;
    scheduler.wake();
    await advance(1);
    expect(crons.fired).toEqual([5_000, 5_001]);
  });

  it('does not spin while another process fires what is due', async () => {
    crons.dueAt = 0;
    crons.isTakenElsewhere = true;
    scheduler.start();
    await advance(1_000);
    expect(crons.asked).toBeLessThan(6);
    crons.isTakenElsewhere = false;
    await advance(250);
    expect(crons.fired).toHaveLength(1);
  });

  it('continues after an outage of the database, asking less and less often, and at least every five seconds', async () => {
    crons.failures = Array.from({ length: 6 }, () => new Error('away'));
    crons.dueAt = 0;
    scheduler.start();
    await advance(3_000);
    expect(crons.asked).toBe(3);
    await advance(17_000);
    // The cron fires after pauses of 0.5, 1, 2, 4, 5 and 5 seconds.
    expect(crons.fired).toEqual([17_500]);
  });

  it('resumes crons that an older process paused, before it started or beside it', async () => {
    crons.isPaused = true;
    scheduler.start();
    await advance(1);
    expect(crons.fired).toEqual([0]);
    crons.isPaused = true;
    await advance(330_000);
    expect(crons.fired).toHaveLength(2);
  });

  it('says in the log why a slot stays due', async () => {
    const warn = vi.spyOn(silentLogger, 'warn');
    crons.dueAt = 0;
    crons.postponement = new Error('the key service is away');
    scheduler.start();
    await advance(1);
    expect(warn.mock.calls).toEqual([
      ['cron slot postponed', { cronId: 'c', slot: expect.any(Date), error: crons.postponement }],
    ]);
    warn.mockRestore();
  });

  it('fires nothing more once it is stopped', async () => {
    crons.dueAt = 1_000;
    scheduler.start();
    await advance(10);
    await scheduler.stop();
    await advance(60_000);
    expect(crons.fired).toEqual([]);
  });
});
