import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { type FiringParts, fireCrons, millisecondsToNextSlot } from './fire-crons.ts';
import { repairNextSlots } from './repair-next-slots.ts';
import type { FireCrons, FiredSlot } from './types.ts';

export interface CronFiringOptions extends FiringParts {
  pool: pg.Pool;
  writes: Pick<EngineWrites, 'notifyListeners'>;
}

/** Milliseconds after which a postponed slot is tried again. */
const POSTPONED_MS = 60_000;

/** Creates the runs of crons. */
export class CronFiring {
  readonly #options: CronFiringOptions;
  /** Monotonic milliseconds until which crons are left alone, by id: their slots were postponed by this process. */
  readonly #postponed = new Map<string, number>();

  constructor(options: CronFiringOptions) {
    this.#options = options;
  }

  /**
   * Fires due crons, each slot once, even with several processes. The caller has to wake workers for the new runs. A
   * slot that was postponed here is left out for a minute. Empty: none is due.
   */
  async fire(options: FireCrons): Promise<FiredSlot[]> {
    const { pool, writes, ...parts } = this.#options;
    const except = this.#postponedIds();
    // A cron's run may have interrupted or rolled back a run that has webhooks.
    const slots = await fireCrons(pool, { ...options, except }, parts).finally(() =>
      writes.notifyListeners({ hasWebhooks: true }),
    );
    const until = performance.now() + POSTPONED_MS;
    for (const { cronId, postponement } of slots) if (postponement) this.#postponed.set(cronId, until);
    return slots;
  }

  /** Sets the next slot of crons that a process of the previous release left without one. Returns how many. */
  repairNextSlots(): Promise<number> {
    return repairNextSlots(this.#options.pool);
  }

  /**
   * Returns milliseconds until the next slot of crons of these graphs, by the database's clock; undefined when there is
   * none.
   */
  async millisecondsToNextSlot(graphIds: readonly string[]): Promise<number | undefined> {
    const except = this.#postponedIds();
    const nextMs = await millisecondsToNextSlot(this.#options.pool, { graphIds, except });
    if (except.length === 0) return nextMs;
    const againMs = Math.max(0, Math.min(...this.#postponed.values()) - performance.now());
    return Math.min(againMs, nextMs ?? againMs);
  }

  #postponedIds(): string[] {
    const now = performance.now();
    for (const [cronId, until] of this.#postponed) if (until <= now) this.#postponed.delete(cronId);
    return [...this.#postponed.keys()];
  }
}
