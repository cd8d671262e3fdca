import type { Logger } from './logger.ts';

export interface PeriodicTaskOptions {
  /** Names the task in log lines. */
  name: string;
  everyMs: number;
  /** True when the first round begins with `start`, instead of an interval later. */
  atStart?: boolean;
  /** Runs one round. A long one checks `isStopped` between its parts. */
  run: (task: PeriodicTask) => unknown;
  /** Logs a round that failed; the next one runs as usual. */
  logger: Pick<Logger, 'warn'>;
}

/** Timers hold 31 bits of milliseconds. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Runs work at every interval in this process, until it is stopped. Rounds never overlap. */
export class PeriodicTask {
  readonly #options: PeriodicTaskOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isWoken = false;
  #isStopped = false;

  constructor(options: PeriodicTaskOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  start(): void {
    if (this.#isStopped) return;
    const { everyMs, atStart = false } = this.#options;
    this.#timer ??= setInterval(() => this.#begin(), Math.min(everyMs, TIMER_MS_MAX)).unref();
    if (atStart) this.#begin();
  }

  /** Runs a round ahead of time: now, or right after the one under way. */
  wake(): void {
    this.#isWoken = true;
    this.#begin();
  }

  /** Resolves when the round under way has ended; no other begins. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  #begin(): void {
    if (!this.#isStopped) this.#running ??= this.#runRounds();
  }

  async #runRounds(): Promise<void> {
    do {
      this.#isWoken = false;
      await this.#runRound();
    } while (this.#isWoken && !this.#isStopped);
    // Without a step between this and the look at `#isWoken`, so that no wake is lost between the two.
    this.#running = undefined;
  }

  async #runRound(): Promise<void> {
    const { name, run, logger } = this.#options;
    try {
      await run(this);
    } catch (error) {
      logger.warn('periodic task failed, will retry', { task: name, error });
    }
  }
}
