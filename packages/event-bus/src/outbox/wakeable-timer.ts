/** A pause that can be cut short, also by a wake that came just before it began. */
export class WakeableTimer {
  #isWoken = false;
  #end: (() => void) | undefined;

  wake(): void {
    this.#isWoken = true;
    this.#end?.();
  }

  async wait(ms: number): Promise<void> {
    if (!this.#isWoken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
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
