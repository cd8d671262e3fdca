import type { Logger } from '@runyard/service-kit';

const ROUND_MS = 60 * 60 * 1000;

/** What is removed from the disk at the start and every hour after it. Any number of processes may do so. */
export abstract class HourlySweep {
  readonly #failure: string;
  readonly #logger: Logger;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  /** @param failure what the log says of a round that failed; the next one comes all the same */
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

  /** Resolves when the round under way is over. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }
}
