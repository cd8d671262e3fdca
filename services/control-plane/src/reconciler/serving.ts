import type { Logger } from '@runyard/service-kit';
import type { RunningRevision } from '../drivers/driver.ts';
import type { RolloutStore } from './rollout-store.ts';

export interface StopOptions {
  /** Another process has taken over, and announces its own route. */
  keepRoute?: boolean;
  /** What outlives this process goes on, and keeps its route. */
  release?: boolean;
}

/** For processes that nobody waits for any more. */
export const SHORT_GRACE_MS = 1_000;

/** What runs of one deployment: the revision that serves, and those it has replaced until they have ended. */
export class Serving {
  readonly #deploymentId: string;
  readonly #store: Pick<RolloutStore, 'setUpstreams'>;
  readonly #onDrained: () => Promise<void>;
  readonly #logger: Logger;
  #current: RunningRevision | undefined;
  readonly #draining = new Map<RunningRevision, Promise<void>>();
  #isStopped = false;
  /** Route changes in order: a later one must not be overtaken by an earlier one. */
  #routing: Promise<void> = Promise.resolve();

  /** @param options.onDrained called after a replaced revision has ended */
  constructor(options: {
    deploymentId: string;
    store: Pick<RolloutStore, 'setUpstreams'>;
    onDrained: () => Promise<void>;
    logger: Logger;
  }) {
    this.#deploymentId = options.deploymentId;
    this.#store = options.store;
    this.#onDrained = options.onDrained;
    this.#logger = options.logger;
  }

  /** The one that serves. */
  get revisionId(): string | undefined {
    return this.#current?.revisionId;
  }

  get isDraining(): boolean {
    return this.#draining.size > 0;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Has this one serve, and the one before it end. False when everything was asked to stop meanwhile: then it is stopped too. */
  async take(running: RunningRevision): Promise<boolean> {
    if (this.#isStopped) {
      await running.stop(SHORT_GRACE_MS);
      return false;
    }
    const replaced = this.#current;
    this.#current = running;
    this.#route(running);
    if (replaced) this.#drain(replaced);
    return true;
  }

  /** The revision answers elsewhere than before. */
  moved(revisionId: string): void {
    if (this.#current?.revisionId === revisionId) this.#route(this.#current);
  }

  /** Ends all of it. Its route is withdrawn first. */
  async stop(graceMs: number, { keepRoute, release }: StopOptions = {}): Promise<void> {
    this.#isStopped = true;
    const serving = this.#current;
    this.#current = undefined;
    await this.#routing;
    if (serving && !keepRoute && !(release && serving.outlivesUs)) {
      await this.#store.setUpstreams(this.#deploymentId, []).catch((error: unknown) => {
        this.#logger.warn('the route of a deployment could not be withdrawn', { error });
      });
    }
    const end = (running: RunningRevision) => (release && running.release ? running.release() : running.stop(graceMs));
    await Promise.all([...(serving ? [serving] : []), ...this.#draining.keys()].map(end));
    await Promise.all(this.#draining.values());
  }

  /** Writes down where the revision answers now. */
  #route(serving: RunningRevision): void {
    this.#routing = this.#routing.then(async () => {
      if (this.#current !== serving) return;
      try {
        await this.#store.setUpstreams(this.#deploymentId, serving.upstreams);
      } catch (error) {
        this.#logger.error('the route of a deployment could not be changed', { error });
      }
    });
  }

  #drain(replaced: RunningRevision): void {
    const drained = replaced
      .drain()
      .then(() => this.#logger.info('a replaced revision has ended', { revisionId: replaced.revisionId }))
      .catch((error: unknown) => this.#logger.error('a replaced revision did not end well', { error }))
      .finally(() => {
        this.#draining.delete(replaced);
        return this.#onDrained();
      });
    this.#draining.set(replaced, drained);
  }
}
