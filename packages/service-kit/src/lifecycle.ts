import type { Logger } from './logger.ts';

/**
 * Starts and stops one service.
 *
 * starting → ready → draining → stopped. On stop, readiness turns false first and every `onDrain` hook begins to refuse
 * new work. Then all parts are closed in reverse order, each with a time limit. Every failure is reported, and none
 * keeps the others from being closed.
 */
export interface Lifecycle {
  /** Runs `close` at stop, after everything registered later. Default limit: 10 s. */
  onStop(name: string, close: () => unknown, options?: { timeoutMs?: number }): void;
  /** Runs `begin` at the very start of stopping, before anything is closed; waits for it only until its limit. */
  onDrain(name: string, begin: () => unknown): void;
  /** Runs `begin` when a stop in progress has to come to its end: what it still waits for is given up in order. */
  onHurry(begin: () => void): void;
  /** Reports the service as ready from now on: all its parts have started. */
  ready(): void;
  readonly isReady: boolean;
  readonly isDraining: boolean;
  /** Aborts when stopping begins. */
  readonly stopping: AbortSignal;
  /** Stops once, however often it is called; resolves when everything is closed. */
  stop(reason: string): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 10_000;
const DRAIN_HOOK_TIMEOUT_MS = 2_000;

interface Closing {
  name: string;
  close: () => unknown;
  timeoutMs: number;
}

export class ServiceLifecycle implements Lifecycle {
  readonly #logger: Logger;
  readonly #closings: Closing[] = [];
  readonly #drains: { name: string; begin: () => unknown }[] = [];
  #hurries: (() => void)[] = [];
  readonly #stopping = new AbortController();
  #ready = false;
  #stopped: Promise<void> | undefined;
  #failures = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  get isDraining(): boolean {
    return this.#stopped !== undefined;
  }

  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Number of parts that failed to close, or did not in time. */
  get failures(): number {
    return this.#failures;
  }

  onStop(name: string, close: () => unknown, options: { timeoutMs?: number } = {}): void {
    this.#closings.push({ name, close, timeoutMs: options.timeoutMs ?? CLOSE_TIMEOUT_MS });
  }

  onDrain(name: string, begin: () => unknown): void {
    this.#drains.push({ name, begin });
  }

  onHurry(begin: () => void): void {
    this.#hurries.push(begin);
  }

  /** Hurries the stop in progress. Returns whether some part can, and has not been hurried before. */
  hurry(): boolean {
    const hurries = this.#hurries;
    this.#hurries = [];
    for (const begin of hurries) begin();
    return hurries.length > 0;
  }

  ready(): void {
    if (this.#stopped) return;
    this.#ready = true;
  }

  stop(reason: string): Promise<void> {
    this.#stopped ??= this.#stop(reason);
    return this.#stopped;
  }

  async #stop(reason: string): Promise<void> {
    this.#ready = false;
    this.#logger.info('stopping', { reason });
    // The caller of stop() finishes its turn first, so that `isDraining` is true for every hook.
    await Promise.resolve();
    this.#stopping.abort(new Error(`stopping: ${reason}`));
    await Promise.all(
      this.#drains.map(({ name, begin }) => this.#closeWithin(`drain of ${name}`, begin, DRAIN_HOOK_TIMEOUT_MS)),
    );
    // A part may be opened while others close; what it registers is closed too.
    for (let closing = this.#closings.pop(); closing; closing = this.#closings.pop()) {
      await this.#closeWithin(closing.name, closing.close, closing.timeoutMs);
    }
    this.#logger.info('stopped', { failures: this.#failures });
  }

  async #closeWithin(name: string, action: () => unknown, timeoutMs: number): Promise<void> {
    const startedAt = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${name} did not close within ${timeoutMs} ms`)), timeoutMs);
    });
    try {
      await Promise.race([(async () => action())(), late]);
      this.#logger.debug('closed', { part: name, ms: Math.round(performance.now() - startedAt) });
    } catch (error) {
      this.#failures += 1;
      this.#logger.error('closing a part failed', { part: name, error });
    } finally {
      clearTimeout(timer);
    }
  }
}
