import { AsyncLocalStorage } from 'node:async_hooks';
import { PoolBusyError } from './pool-busy-error.ts';

export interface ReadLimitsOptions {
  /** Number of connections that the work may have at the same time. */
  connectionsMax: number;
  /** Milliseconds that one statement may take; then it is cancelled. */
  statementMs: number;
}

/** The limits of the work that runs at the moment, and the signal that nobody waits for it any more. */
interface LimitedWork {
  limits: ReadLimits;
  signal: AbortSignal;
}

const current = new AsyncLocalStorage<LimitedWork>();

/** Returns the limited work that calls, or undefined for work without limits. */
export const currentWork = (): LimitedWork | undefined => current.getStore();

/**
 * Limits what the reads of callers take from pools: only so many connections at once, so that others are left for short
 * work, and only so much time for a statement. What nobody waits for any more is cancelled.
 */
export class ReadLimits {
  readonly statementMs: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor({ connectionsMax, statementMs }: ReadLimitsOptions) {
    this.#free = connectionsMax;
    this.statementMs = statementMs;
  }

  /** Runs work under the limits. @param signal aborts when nobody waits for the work any more */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    // Prisma's promises begin when they are awaited, which has to be inside.
    return current.run({ limits: this, signal }, async () => await work());
  }

  /**
   * Takes the place of a connection, and waits for one no longer than that. Returns the function that gives it back.
   *
   * @throws PoolBusyError, or the reason of the signal
   */
  async takePlace(signal: AbortSignal, waitMs: number): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free -= 1;
    else await this.#waitForPlace(signal, waitMs);
    return () => this.#givePlaceBack();
  }

  #waitForPlace(signal: AbortSignal, waitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
        this.#waiting.delete(enter);
        settle();
      };
      const enter = () => end(resolve);
      const leave = () => end(() => reject(signal.reason));
      const timer = setTimeout(() => end(() => reject(new PoolBusyError())), waitMs);
      signal.addEventListener('abort', leave);
      this.#waiting.add(enter);
    });
  }

  #givePlaceBack(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#free += 1;
  }
}

/**
 * Returns the object with methods that run under the limits of now, wherever they are called: for what other processes
 * ask on behalf of a request.
 */
export function underCurrentLimits<T extends object>(target: T): T {
  const work = current.getStore();
  if (!work) return target;
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => current.run(work, () => value.apply(target, args));
    },
  });
}
