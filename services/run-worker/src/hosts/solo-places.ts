/** Hosts for suspects that are begun at a time: each is a process that loads the whole project. */
const FRESH_MAX = 3;
/** One that lasts so long is no burst any more and keeps no other waiting. */
const FRESH_MS = 30_000;
/** At most so many of them at all: this is memory. */
const PLACES_MAX = 12;

/**
 * Places for runs that are executed in a host of their own. A few are given at a time, so that a crowd of suspects does not start
 * a crowd of processes; a suspect that takes long does not hold up the others behind it.
 */
export class SoloPlaces {
  readonly #onFree: () => void;
  #taken = 0;
  #fresh = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param onFree there is a place that nobody was waiting for */
  constructor(onFree: () => void) {
    this.#onFree = onFree;
  }

  get free(): number {
    return Math.min(FRESH_MAX - this.#fresh, PLACES_MAX - this.#taken);
  }

  /** Resolves with a place, once there is one, and to what gives it back. */
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
      this.#admit();
    }, FRESH_MS).unref();
    return () => {
      clearTimeout(timer);
      age();
      this.#taken -= 1;
      this.#admit();
    };
  }

  #occupy(): void {
    this.#taken += 1;
    this.#fresh += 1;
  }

  #admit(): void {
    if (this.free === 0) return;
    const next = this.#waiting.shift();
    if (next) {
      this.#occupy();
      next();
    } else this.#onFree();
  }
}
