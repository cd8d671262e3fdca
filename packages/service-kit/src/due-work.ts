import { WakeableTimer } from './wakeable-timer.ts';

export interface DueWorkOptions {
  /** Does what is due. Resolves with the milliseconds until it should run again, 0 for at once. */
  work: () => Promise<number>;
  /** Reports that the work failed; it is retried after a pause that grows. */
  onError: (error: unknown) => void;
}

/** Bounds how long work stays undone after an outage has ended. */
const RETRY_MS = { first: 500, last: 5_000 };

/** Runs work when it is due and sleeps in between, until it is woken. */
export class DueWork {
  readonly #options: DueWorkOptions;
  readonly #timer = new WakeableTimer();
  #isStopped = false;
  #running: Promise<void> | undefined;

  constructor(options: DueWorkOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Wakes it: it looks at once, or again after the work in flight. */
  wake(): void {
    this.#timer.wake();
  }

  /** Resolves when the work in flight has ended; no other begins. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let retryMs = RETRY_MS.first;
    while (!this.#isStopped) {
      this.#timer.reset();
      try {
        await this.#sleep(await this.#options.work());
        retryMs = RETRY_MS.first;
      } catch (error) {
        this.#options.onError(error);
        await this.#sleep(retryMs);
        retryMs = Math.min(retryMs * 2, RETRY_MS.last);
      }
    }
  }

  async #sleep(ms: number): Promise<void> {
    if (ms > 0 && !this.#isStopped) await this.#timer.wait(ms);
  }
}
