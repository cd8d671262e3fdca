/** Milliseconds within which data planes come back after an outage of the platform: their longest pause, and some more. */
const RETURN_MS = 8_000;

/**
 * Tells whether data planes had the chance to renew their leases. While the platform itself is away all leases lapse, and
 * the first to ask afterwards must not take what the others are running.
 */
export class ContinuousService {
  readonly #leaseMs: number;
  readonly #now: () => number;
  #servedAt = Number.NEGATIVE_INFINITY;
  #since = 0;

  constructor(leaseMs: number, now: () => number = () => performance.now()) {
    this.#leaseMs = leaseMs;
    this.#now = now;
  }

  /** Has to be called with each request of a data plane that was served. */
  served(): void {
    const now = this.#now();
    if (now - this.#servedAt > this.#leaseMs) this.#since = now;
    this.#servedAt = now;
  }

  /** True when every data plane that lives has had the time to renew its lease. */
  get isLongEnough(): boolean {
    return this.#now() - this.#since >= this.#leaseMs + RETURN_MS;
  }
}
