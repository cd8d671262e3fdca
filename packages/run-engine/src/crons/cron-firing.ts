import type pg from 'pg';
import type { EngineWrites } from '../engine-writes.ts';
import { type FiringParts, fireCrons, millisecondsToNextSlot } from './fire-crons.ts';
import { repairNextSlots } from './repair-next-slots.ts';
import type { FireCrons, FiredSlot } from './types.ts';

export interface CronFiringOptions extends FiringParts {
  pool: pg.Pool;
  writes: Pick<EngineWrites, 'notifyListeners'>;
}

/**
 * Milliseconds after which a postponed slot is tried again, and at most once it has been postponed again and again: due
 * slots are taken in their order, and many that wait for one key service must not come before those behind them.
 */
const POSTPONED_MS = { first: 60_000, longest: 600_000 };

/** A cron whose slots this process leaves alone for a while. */
interface Postponed {
  /** Monotonic milliseconds. */
  until: number;
  pauseMs: number;
}

/** Creates the runs of crons. */
export class CronFiring {
  readonly #options: CronFiringOptions;
  /** Crons whose slots this process has postponed and not fired since, by id. */
  readonly #postponed = new Map<string, Postponed>();

  constructor(options: CronFiringOptions) {
    this.#options = options;
  }

  /**
   * Fires due crons, each slot once, even with several processes. The caller has to wake workers for the new runs. A
   * slot that was postponed here is left out for a minute, or for longer each time. Empty: none is due.
   */
  async fire(options: FireCrons): Promise<FiredSlot[]> {
    const { pool, writes, ...parts } = this.#options;
    const except = this.#postponedIds();
    // A cron's run may have interrupted or rolled back a run that has webhooks.
    const slots = await fireCrons(pool, { ...options, except }, parts).finally(() =>
      writes.notifyListeners({ hasWebhooks: true }),
    );
    for (const { cronId, postponement } of slots) {
      if (postponement) this.#postpone(cronId);
      else this.#postponed.delete(cronId);
    }
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
    const again = except.map((cronId) => this.#postponed.get(cronId)!.until);
    const againMs = Math.max(0, Math.min(...again) - performance.now());
    return Math.min(againMs, nextMs ?? againMs);
  }

  #postpone(cronId: string): void {
    const { first, longest } = POSTPONED_MS;
    const before = this.#postponed.get(cronId);
    const pauseMs = before ? Math.min(before.pauseMs * 2, longest) : first;
    this.#postponed.set(cronId, { until: performance.now() + pauseMs, pauseMs });
  }

  /** Returns the crons to leave out now, and forgets those that nobody has seen for long: they may be deleted. */
  #postponedIds(): string[] {
    const now = performance.now();
    for (const [cronId, { until }] of this.#postponed) {
      if (until + POSTPONED_MS.longest <= now) this.#postponed.delete(cronId);
    }
    return [...this.#postponed].filter(([, { until }]) => until > now).map(([cronId]) => cronId);
  }
}
