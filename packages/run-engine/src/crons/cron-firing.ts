import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { type FiringParts, fireCrons, millisecondsToNextSlot } from './fire-crons.ts';
import { repairNextSlots } from './repair-next-slots.ts';
import type { FireCrons, FiredSlot } from './types.ts';

export interface CronFiringOptions extends FiringParts {
  pool: pg.Pool;
  writes: Pick<EngineWrites, 'notifyListeners'>;
}

/** Creates the runs of crons. */
export class CronFiring {
  readonly #options: CronFiringOptions;

  constructor(options: CronFiringOptions) {
    this.#options = options;
  }

  /**
   * Fires due crons, each slot once, even with several processes. The caller has to wake workers for the new runs.
   * Empty: none is due.
   */
  fire(options: FireCrons): Promise<FiredSlot[]> {
    const { pool, writes, ...parts } = this.#options;
    // A cron's run may have interrupted or rolled back a run that has webhooks.
    return fireCrons(pool, options, parts).finally(() => writes.notifyListeners({ hasWebhooks: true }));
  }

  /** Sets the next slot of crons that a process of the previous release left without one. Returns how many. */
  repairNextSlots(): Promise<number> {
    return repairNextSlots(this.#options.pool);
  }

  /**
   * Returns milliseconds until the next slot of crons of these graphs, by the database's clock; undefined when there is
   * none.
   */
  millisecondsToNextSlot(graphIds: readonly string[]): Promise<number | undefined> {
    return millisecondsToNextSlot(this.#options.pool, graphIds);
  }
}
