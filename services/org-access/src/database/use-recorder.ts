import { type Logger, PeriodicTask } from '@runyard/service-kit';

const WRITE_EVERY_MS = 30_000;

/** Collects the last use of credentials and stores it from time to time, so that no request waits for it. */
export class UseRecorder {
  readonly #name: string;
  readonly #store: (ids: string[], times: Date[]) => Promise<unknown>;
  readonly #logger: Logger;
  readonly #used = new Map<string, Date>();
  readonly #task: PeriodicTask;

  /** @param options.store stores the times of the ids, each only if it is later than the stored one */
  constructor(options: {
    name: string;
    store: (ids: string[], times: Date[]) => Promise<unknown>;
    logger: Logger;
  }) {
    this.#name = options.name;
    this.#store = options.store;
    this.#logger = options.logger;
    const { name, logger } = options;
    this.#task = new PeriodicTask({ name, everyMs: WRITE_EVERY_MS, run: () => this.write(), logger });
  }

  start(): void {
    this.#task.start();
  }

  async stop(): Promise<void> {
    await this.#task.stop();
    await this.write();
  }

  record(id: string): void {
    this.#used.set(id, new Date());
  }

  /** Returns a use in this process that is not stored yet. */
  unstored(id: string): Date | undefined {
    return this.#used.get(id);
  }

  /** Never throws: a failed batch is lost, and the next use is stored again. */
  async write(): Promise<void> {
    if (this.#used.size === 0) return;
    const [ids, times] = [[...this.#used.keys()], [...this.#used.values()]];
    this.#used.clear();
    try {
      await this.#store(ids, times);
    } catch (error) {
      this.#logger.warn('last use not stored', { of: this.#name, credentials: ids.length, error });
    }
  }
}
