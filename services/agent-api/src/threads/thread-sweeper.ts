import type { Duty } from '@runyard/database';
import { FIRST_SLICE, type OrphanSlice, type ThreadHistories } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';

export interface ThreadSweeperOptions {
  histories: Pick<ThreadHistories, 'expire' | 'removeOrphans'>;
  duty: Pick<Duty, 'isMine' | 'release'>;
  /** Threads are gone, with their runs. */
  onDeleted: (threadIds: string[]) => void;
  logger: Logger;
  everyMs: number;
  /** Threads of one sweep at most. */
  limit: number;
}

/** Timers take 31 bits of milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Of all processes of the deployment one looks after threads past their time: at its start, and then at every interval. Each look
 * also goes through a slice of the tables for rows whose thread is gone.
 */
export class ThreadSweeper {
  readonly #options: ThreadSweeperOptions;
  #orphans: OrphanSlice = FIRST_SLICE;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;

  constructor(options: ThreadSweeperOptions) {
    this.#options = options;
  }

  start(): void {
    const sweep = () => {
      this.#sweeping ??= this.#sweep().finally(() => {
        this.#sweeping = undefined;
      });
    };
    this.#timer = setInterval(sweep, Math.min(this.#options.everyMs, TIMER_MS_MAX));
    sweep();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
    await this.#options.duty.release().catch(() => undefined);
  }

  async #sweep(): Promise<void> {
    const { histories, duty, onDeleted, logger, limit } = this.#options;
    try {
      if (!(await duty.isMine())) return;
      const { deletedIds, prunedIds } = await histories.expire(limit);
      if (deletedIds.length > 0) onDeleted(deletedIds);
      const done = { deleted: deletedIds.length, pruned: prunedIds.length };
      if (done.deleted + done.pruned > 0) logger.info('threads were past their time', done);
      this.#orphans = await histories.removeOrphans(this.#orphans);
      if (this.#orphans.removed > 0) {
        logger.warn('rows whose thread is gone were removed', { rows: this.#orphans.removed });
      }
    } catch (error) {
      logger.warn('threads past their time could not be looked after', { error });
    }
  }
}
