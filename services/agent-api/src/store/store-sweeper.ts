import type { PostgresStore } from '@runyard/checkpointer';
import type { Duty } from '@runyard/database';
import type { Logger } from '@runyard/service-kit';

export interface StoreSweeperOptions {
  store: Pick<PostgresStore, 'deleteExpired'>;
  duty: Pick<Duty, 'isMine' | 'release'>;
  logger: Logger;
  everyMs: number;
}

/** Items deleted by one statement. */
const BATCH = 1_000;
/** Timers take 31 bits of milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Of all processes of the deployment one deletes expired items: at its start, and then at every interval. */
export class StoreSweeper {
  readonly #options: StoreSweeperOptions;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: StoreSweeperOptions) {
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
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#sweeping;
    await this.#options.duty.release().catch(() => undefined);
  }

  async #sweep(): Promise<void> {
    const { store, duty, logger } = this.#options;
    let deleted = 0;
    try {
      let last = BATCH;
      while (last === BATCH && !this.#isClosed && (await duty.isMine())) {
        last = await store.deleteExpired(BATCH);
        deleted += last;
      }
      if (deleted > 0) logger.info('expired items of the store are deleted', { deleted });
    } catch (error) {
      logger.warn('expired items of the store could not be deleted', { error, deleted });
    }
  }
}
