import type { Logger } from '@runyard/service-kit';

const ROUND_MS = 60 * 60 * 1000;

/** Removes files from the disk at the start and every hour after it. Any number of processes may do so at once. */
export abstract class HourlySweep {
  readonly #failure: string;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  /** @param failure the log message of a sweep that failed; the next one runs all the same */
  constructor(failure: string, logger: Logger) {
    this.#failure = failure;
    this.#logger = logger;
  }

  /** @param now milliseconds since the epoch */
  abstract sweep(now?: number): Promise<void>;

  start(): void {
    const round = () => {
      this.#round = this.sweep().catch((error: unknown) => this.#logger.warn(this.#failure, { error }));
    };
    round();
    this.#timer = setInterval(round, ROUND_MS);
  }

  /** Resolves when the current sweep has ended. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }
}
