/** Limits the number of concurrent executions. Others wait in order. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Rejects with the signal's reason when the signal aborts before a slot is free. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next) next();
      else this.#free += 1;
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        leave();
        resolve();
      };
      const giveUp = () => {
        leave();
        reject(signal.reason);
      };
      const leave = () => {
        this.#waiting.delete(begin);
        signal.removeEventListener('abort', giveUp);
      };
      this.#waiting.add(begin);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}
