export interface ClockWatchOptions {
  /** Milliseconds by which the clock may be set without consequences. */
  toleranceMs: number;
  /** Milliseconds for which the clock is not trusted after it was set. */
  holdMs: number;
  /** Monotonic milliseconds. */
  now?: (() => number) | undefined;
}

/**
 * Detects when the database's clock is set. Leases are times by that clock: when it jumps ahead, all of them seem to
 * have expired, until each live worker has renewed its own.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  readonly #now: () => number;
  /** Bounds of the difference between the database's clock and this process's monotonic one. */
  #offset: { from: number; to: number } | undefined;
  #trustedFrom = Number.NEGATIVE_INFINITY;

  constructor(options: ClockWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** False for a while after the clock was found to have been set. */
  get isTrusted(): boolean {
    return this.#now() >= this.#trustedFrom;
  }

  /** Reads the time, in milliseconds since 1970, and compares it. */
  async read<T>(ask: () => Promise<T>, timeOf: (answer: T) => number): Promise<T> {
    const askedAt = this.#now();
    const answer = await ask();
    this.#compare(timeOf(answer), askedAt, this.#now());
    return answer;
  }

  #compare(databaseMs: number, askedAt: number, answeredAt: number): void {
    const before = this.#offset;
    const seen = { from: databaseMs - answeredAt, to: databaseMs - askedAt };
    const { toleranceMs, holdMs } = this.#options;
    const wasSet = before && (seen.from > before.to + toleranceMs || seen.to < before.from - toleranceMs);
    if (wasSet) this.#trustedFrom = answeredAt + holdMs;
    // A slow answer gives wide bounds: the narrower ones stay, as long as they are possible.
    if (!before || wasSet || seen.to - seen.from <= before.to - before.from) this.#offset = seen;
  }
}
