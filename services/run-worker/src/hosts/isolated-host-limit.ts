/** Isolated hosts that are started at a time: each is a process that loads the whole project. */
const FRESH_MAX = 3;
/** Milliseconds after which a run does not count as fresh any more and delays no other. */
const FRESH_MS = 30_000;
/** The most isolated hosts at all: each is memory. */
const ISOLATED_HOSTS_MAX = 12;

/**
 * Limits isolated hosts. A few are started at a time, so that many quarantined runs do not start many processes at
 * once; a quarantined run that takes long does not hold up the others behind it.
 */
export class IsolatedHostLimit {
  readonly #onFree: () => void;
  #taken = 0;
  #fresh = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param onFree called when there is room for a host that nobody was waiting for */
  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  get free(): number {
    return Math.min(FRESH_MAX - this.#fresh, ISOLATED_HOSTS_MAX - this.#taken);
  }

  /** Waits for room. Resolves to the function that gives it back. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.#occupy();
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isFresh = true;
    const age = () => {
      if (!isFresh) return;
      isFresh = false;
      this.#fresh -= 1;
    };
    const timer = setTimeout(() => {
      age();
      this.#admitNext();
    }, FRESH_MS).unref();
    return () => {
      clearTimeout(timer);
      age();
      this.#taken -= 1;
      this.#admitNext();
    };
  }

  #occupy(): void {
    this.#taken += 1;
    this.#fresh += 1;
  }

  #admitNext(): void {
    if (this.free === 0) return;
    const next = this.#waiting.shift();
    if (next) {
      this.#occupy();
      next();
    } else this.#onFree();
  }
}
