import { setTimeout as sleep } from 'node:timers/promises';

/** The pause in milliseconds after work that took no time. */
const PAUSE_MS = 200;
/** The pause after work is this many times as long as the work took, where that is longer. */
const PAUSE_FACTOR = 9;
/** The longest pause: nobody waits longer for a change because the work was slow. */
const PAUSE_MAX_MS = 1_000;

/**
 * Runs work that may be triggered any number of times: at once when it has rested, and once more after the pause when
 * it was triggered meanwhile. So the last trigger is never lost, and a flood of them takes little of the time.
 */
export class Throttle {
  readonly #work: () => Promise<void> | void;
  readonly #stop = new AbortController();
  #isWanted = false;
  #isRunning = false;

  constructor(work: () => Promise<void> | void) {
    this.#work = work;
  }

  trigger(): void {
    this.#isWanted = true;
    if (!this.#isRunning) void this.#run();
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isWanted && !this.#stop.signal.aborted) {
      this.#isWanted = false;
      const startedAt = performance.now();
      await this.#work();
      const tookMs = performance.now() - startedAt;
      const pauseMs = Math.min(Math.max(PAUSE_MS, PAUSE_FACTOR * tookMs), PAUSE_MAX_MS);
      await sleep(pauseMs, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
    }
    this.#isRunning = false;
  }
}
