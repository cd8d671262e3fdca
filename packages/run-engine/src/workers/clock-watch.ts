export interface ClockWatchOptions {
  /** A clock that is set by less than this is as good as one that is not. */
  toleranceMs: number;
  /** For how long the clock is not believed after it was set. */
  holdMs: number;
  /** Monotonic milliseconds. */
  now?: (() => number) | undefined;
}

/**
 * Notices when the database's clock is set. Leases are times by that clock: when it jumps ahead all of them seem to have lapsed, until
 * each worker that lives has renewed its own.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #now: () => number;
  /** What the database's clock is ahead of this process's monotonic one, between these bounds. */
  #ahead: { from: number; to: number } | undefined;
  #believedFrom = Number.NEGATIVE_INFINITY;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** False for a while after the clock was seen to have been set. */
  get isBelieved(): boolean {
    return this.#now() >= this.#believedFrom;
  }

  /** Asks for the time, in milliseconds since 1970, and compares. */
  async read<T>(ask: () => Promise<T>, timeOf: (answer: T) => number): Promise<T> {
    const askedAt = this.#now();
    const answer = await ask();
    this.#saw(timeOf(answer), askedAt, this.#now());
    return answer;
  }

  #saw(databaseMs: number, askedAt: number, answeredAt: number): void {
    const before = this.#ahead;
    const seen = { from: databaseMs - answeredAt, to: databaseMs - askedAt };
    const { toleranceMs, holdMs } = this.#options;
    const wasSet = before && (seen.from > before.to + toleranceMs || seen.to < before.from - toleranceMs);
    if (wasSet) this.#believedFrom = answeredAt + holdMs;
    // A slow answer says little: the narrower bounds stay, as long as they may be true.
    if (!before || wasSet || seen.to - seen.from <= before.to - before.from) this.#ahead = seen;
  }
}
