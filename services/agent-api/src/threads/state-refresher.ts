import { setTimeout as pause } from 'node:timers/promises';
import type { OutdatedState } from '@runyard/run-engine';
import type { Logger } from '@runyard/service-kit';
import type { StateService } from './state-service.ts';

export interface StateRefresherOptions {
  state: Pick<StateService, 'refresh'>;
  logger: Logger;
  /** Milliseconds that the next thread waits for one whose graph does not return. Default 5 s. */
  patienceMs?: number;
}

const PATIENCE_MS = 5_000;

/**
 * Rereads the state of threads in the background. This runs the project's own code, which may never return: no other
 * thread, and no other task of the process, waits for that.
 */
export class StateRefresher {
  readonly #options: StateRefresherOptions;
  readonly #inFlight = new Set<string>();
  #isReading = false;

  constructor(options: StateRefresherOptions) {
    this.#options = options;
  }

  /**
   * Begins with these, one after another, unless others are being read. Threads that are in flight may be passed again.
   */
  begin(threads: OutdatedState[]): void {
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#readAll(threads).finally(() => {
      this.#isReading = false;
    });
  }

  async #readAll(threads: OutdatedState[]): Promise<void> {
    const { patienceMs = PATIENCE_MS } = this.#options;
    for (const thread of threads) {
      if (this.#inFlight.has(thread.threadId)) continue;
      await Promise.race([this.#read(thread), pause(patienceMs, undefined, { ref: false })]);
    }
  }

  async #read(thread: OutdatedState): Promise<void> {
    const { state, logger } = this.#options;
    this.#inFlight.add(thread.threadId);
    // A run or another writer that takes the thread meanwhile stores its state; another failure is retried in a minute.
    await state.refresh(thread).catch((error: unknown) => {
      logger.debug('refreshing the state of a thread failed, will retry', { threadId: thread.threadId, error });
    });
    this.#inFlight.delete(thread.threadId);
  }
}
