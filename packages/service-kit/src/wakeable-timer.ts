/** A wait that a wake ends early, even a wake that came just before the wait began. */
export class WakeableTimer {
  #isWoken = false;
  #end: (() => void) | undefined;

  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  /** Forgets the wakes until now, when the work that they asked for begins. */
  reset(): void {
    this.#isWoken = false;
  }

  /** Resolves after the time, which is unlimited by default, or with the next wake; uses up the wakes until then. */
  async wait(ms?: number): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        this.#end = resolve;
        if (ms === undefined) return;
        const timer = setTimeout(resolve, ms);
        timer.unref();
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#end = undefined;
    this.#isWoken = false;
  }
}
