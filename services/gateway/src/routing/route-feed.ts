import type { RouteSnapshot } from '@runyard/contracts';
import { type Logger, WakeableTimer } from '@runyard/service-kit';
import { Throttle } from '../throttle.ts';
import type { DeploymentTable } from './deployment-table.ts';

export interface RouteFeedOptions {
  table: DeploymentTable;
  fetchSnapshot(signal: AbortSignal): Promise<RouteSnapshot>;
  refreshMs: number;
  logger: Logger;
}

const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5_000;
/** Milliseconds between two snapshots that are fetched because a route led nowhere. */
const DEAD_ROUTE_REFRESH_MS = 1_000;

/**
 * Keeps the table current with snapshots: one at the start, retried until it comes, one after each hint that routes
 * changed, one when a route leads nowhere, and one every so often in case a hint was lost or the bus is away. Whoever
 * can write to the bus can cause a fetch, and never a route.
 */
export class RouteFeed {
  readonly #options: RouteFeedOptions;
  readonly #stop = new AbortController();
  readonly #timer = new WakeableTimer();
  #refreshing: Promise<void> = Promise.resolve();
  #waiting: (() => void)[] = [];
  /** The next snapshot, one for all who wait for it: however long control-plane is away, nothing piles up. */
  #next: { taken: Promise<void>; resolve: () => void } | undefined;
  #deadRouteAt = Number.NEGATIVE_INFINITY;
  readonly #hints = new Throttle(() => this.refreshNow());

  constructor(options: RouteFeedOptions) {
    this.#options = options;
  }

  start(): void {
    this.#refreshing = this.#refreshUntilStopped();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#hints.stop();
    this.#timer.wake();
    await this.#refreshing;
  }

  /**
   * Fetches a snapshot now, or right after the one in flight; resolves when one that was requested later has been
   * applied.
   */
  refreshNow(): Promise<void> {
    const done = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#timer.wake();
    return done;
  }

  /** Called when a route led nowhere: fetches a snapshot now, unless that was done a moment ago. */
  reportDeadRoute(): void {
    if (!this.#options.table.isLoaded || performance.now() - this.#deadRouteAt < DEAD_ROUTE_REFRESH_MS) return;
    this.#deadRouteAt = performance.now();
    this.#timer.wake();
  }

  /**
   * Has a snapshot fetched soon and resolves when it has been applied; never when it cannot be fetched, so callers
   * bound their wait.
   */
  awaitSnapshot(): Promise<void> {
    this.#next ??= createWait();
    this.hint();
    return this.#next.taken;
  }

  /** Called when routes may have changed: a snapshot is fetched soon, one for all hints of a moment. */
  hint(): void {
    this.#hints.trigger();
  }

  async #refreshUntilStopped(): Promise<void> {
    let retryMs = RETRY_MS_MIN;
    while (!this.#stop.signal.aborted) {
      this.#timer.reset();
      const served = this.#waiting.splice(0);
      const next = this.#next;
      this.#next = undefined;
      const failed = !(await this.#refresh());
      if (failed) this.#waiting.push(...served);
      else for (const resolve of [...served, ...(next ? [next.resolve] : [])]) resolve();
      retryMs = failed ? Math.min(retryMs * 2, RETRY_MS_MAX) : RETRY_MS_MIN;
      if (failed) await this.#timer.wait(retryMs * (0.75 + Math.random() / 2));
      else if (this.#waiting.length === 0) await this.#timer.wait(this.#options.refreshMs);
    }
  }

  async #refresh(): Promise<boolean> {
    const { table, fetchSnapshot, logger } = this.#options;
    try {
      const { routes } = await fetchSnapshot(this.#stop.signal);
      const first = !table.isLoaded;
      table.replace(routes);
      if (first) logger.info('routes loaded', { deployments: table.size });
      return true;
    } catch (error) {
      if (!this.#stop.signal.aborted)
        logger.warn('route snapshot failed, will retry', { error, loaded: table.isLoaded });
      return false;
    }
  }
}

function createWait(): { taken: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const taken = new Promise<void>((done) => {
    resolve = done;
  });
  return { taken, resolve };
}
