import type { AcceptedRun, CronFiring, DueCron, FiredSlot } from '@runyard/run-engine';
import { DueWork, type Logger } from '@runyard/service-kit';

export interface CronSchedulerOptions {
  crons: Pick<CronFiring, 'fire' | 'millisecondsToNextSlot' | 'repairNextSlots'>;
  /** Graphs of this process's project. Crons of other graphs wait for a process that has them. */
  graphIds: readonly string[];
  toRun: (cron: DueCron) => AcceptedRun;
  /** Runs after the commit: it wakes workers and notifies those whose runs were cancelled for the new one. */
  onFired: (slots: FiredSlot[]) => void;
  logger: Logger;
}

/** A slot comes sooner than this process knows only when the wake-up of a change was lost. */
const LOOK_EVERY_MS = 30_000;
/** Processes of both releases fire crons while one release replaces another. */
const WAKE_EVERY_MS = 5 * 60_000;
/** Another process is firing what is due. */
const TAKEN_MS = 250;

/**
 * Sleeps until the next slot of any cron, by the database's clock, and fires it. Every process of a deployment has one;
 * the database decides which of them fires a slot, so none has to be elected and no slot is missed. It has to be woken
 * when a cron was changed, here or in another process.
 */
export class CronScheduler {
  readonly #options: CronSchedulerOptions;
  readonly #due: DueWork;
  /** Monotonic milliseconds at which paused crons are looked for again. */
  #wakeAt = 0;

  constructor(options: CronSchedulerOptions) {
    this.#options = options;
    this.#due = new DueWork({
      work: () => this.#fireDue(),
      onError: (error) => options.logger.warn('firing crons failed, will retry', { error }),
    });
  }

  start(): void {
    this.#due.start();
  }

  /** Wakes the scheduler: it looks for the next slot at once. */
  wake(): void {
    this.#due.wake();
  }

  /** Resolves when the slots in flight are settled; no other is begun. */
  async stop(): Promise<void> {
    await this.#due.stop();
  }

  /** Fires what is due. Returns the milliseconds until there is something to do again. */
  async #fireDue(): Promise<number> {
    const { crons, graphIds, toRun, onFired, logger } = this.#options;
    if (performance.now() >= this.#wakeAt) {
      const woken = await crons.repairNextSlots();
      if (woken > 0) logger.info('crons that an older release had stopped are scheduled again', { crons: woken });
      this.#wakeAt = performance.now() + WAKE_EVERY_MS;
    }
    while (!this.#due.isStopped) {
      const inMs = await crons.millisecondsToNextSlot(graphIds);
      if (inMs === undefined) return LOOK_EVERY_MS;
      if (inMs > 0) return Math.min(Math.ceil(inMs), LOOK_EVERY_MS);
      const slots = await crons.fire({ graphIds, toRun });
      if (slots.length === 0) return TAKEN_MS;
      for (const { cronId, slot, refusal, postponement, skipReason } of slots) {
        if (refusal) logger.warn('cron slot refused', { cronId, slot, error: refusal });
        if (postponement) logger.warn('cron slot postponed', { cronId, slot, error: postponement });
        if (skipReason) logger.info('cron slot skipped', { cronId, slot, reason: skipReason });
      }
      onFired(slots);
    }
    return 0;
  }
}
