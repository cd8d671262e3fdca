import { Lease, LeasedTask } from '@runyard/leases';
import type { RunEngine, RunWakeups } from '@runyard/run-engine';
import type pg from 'pg';
import { notifyCancelled, type RunEndParts } from '../streams/notify-ended.ts';

/** A halt has to have stopped what runs within five seconds. */
const EVERY_MS = 1_000;
const LEASE_MS = 3 * EVERY_MS;

export interface HaltRoundsOptions extends Omit<RunEndParts, 'engine'> {
  engine: Pick<RunEngine, 'currentEpoch'> & { halts: Pick<RunEngine['halts'], 'find' | 'enforce'> };
  wakeups: Pick<RunWakeups, 'wake'>;
  pool: pg.Pool;
}

/**
 * Cancels what runs while the deployment is halted, and wakes workers once it is resumed; one process of the deployment
 * does it at a time. That new runs are refused needs no process.
 */
export function createHaltRounds(options: HaltRoundsOptions): LeasedTask {
  const { engine, wakeups, pool, logger } = options;
  let wasHalted = false;
  return new LeasedTask({
    lease: new Lease(pool, { name: 'run halt', leaseMs: LEASE_MS }),
    everyMs: EVERY_MS,
    async isNeeded() {
      return wasHalted || (await engine.halts.find()) !== undefined;
    },
    async run() {
      const { halt, cancelled } = await engine.halts.enforce();
      await notifyCancelled(options, cancelled);
      if (halt && !wasHalted) logger.warn('deployment halted', { reason: halt.reason });
      if (!halt && wasHalted) {
        logger.info('deployment resumed');
        wakeups.wake('swept');
      }
      wasHalted = halt !== undefined;
    },
    logger,
  });
}
