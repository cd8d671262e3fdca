/** Milliseconds between lookups of the runs of all open streams, equal to the heartbeat: no client waits longer. */
const CHECK_EVERY_MS = 5_000;
const SOON_MS = 250;

export interface RunWatchOptions {
  /** Returns which of these runs are in flight; the others have ended or do not exist. */
  findInFlight(runIds: string[]): Promise<Set<string>>;
  onError(error: unknown): void;
  checkEveryMs?: number;
}

/**
 * Knows every run that somebody waits for in this process and asks Postgres about all of them in one query. Events
 * report the end of a run sooner; this ends a stream whose last event was lost.
 */
export class RunWatch {
  readonly #options: RunWatchOptions;
  readonly #watchers = new Map<string, Set<() => void>>();
  #timer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #checking = false;

  constructor(options: RunWatchOptions) {
    this.#options = options;
  }

  /** Calls `onEnded` at each check that finds the run ended, until the returned function is called. */
  watch(runId: string, onEnded: () => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers.add(onEnded));
    this.#timer ??= setInterval(() => void this.check(), this.#options.checkEveryMs ?? CHECK_EVERY_MS);
    return () => {
      watchers.delete(onEnded);
      if (watchers.size === 0 && this.#watchers.get(runId) === watchers) this.#watchers.delete(runId);
      if (this.#watchers.size === 0) this.close();
    };
  }

  /** Checks ahead of time, for a reader that may have come just too late; many of them share one check. */
  wake(): void {
    this.#wakeTimer ??= setTimeout(() => {
      this.#wakeTimer = undefined;
      void this.check();
    }, SOON_MS);
  }

  get size(): number {
    return this.#watchers.size;
  }

  async check(): Promise<void> {
    if (this.#checking || this.#watchers.size === 0) return;
    this.#checking = true;
    try {
      const runIds = [...this.#watchers.keys()];
      const inFlight = await this.#options.findInFlight(runIds);
      const ended = runIds.filter((runId) => !inFlight.has(runId) && this.#watchers.has(runId));
      for (const runId of ended) for (const onEnded of this.#watchers.get(runId) ?? []) onEnded();
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#checking = false;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#wakeTimer);
    this.#timer = undefined;
    this.#wakeTimer = undefined;
  }
}
