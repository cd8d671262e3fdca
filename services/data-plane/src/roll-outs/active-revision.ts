import type { StopOptions } from '@runyard/reconciler';
import type { Logger } from '@runyard/service-kit';
import type { RunningRevision } from '../drivers/driver.ts';
import { readMountPrefix } from './mount-prefix.ts';
import type { RolloutStore } from './rollout-store.ts';

/** Grace for processes that nobody waits for any more. */
export const SHORT_GRACE_MS = 1_000;

/** The running revisions of one deployment: the one that serves, and replaced ones until they have ended. */
export class ActiveRevision {
  readonly #deploymentId: string;
  readonly #store: Pick<RolloutStore, 'setUpstreams' | 'setMountPrefix'>;
  readonly #onDrained: () => Promise<void>;
  readonly #logger: Logger;
  #current: RunningRevision | undefined;
  readonly #draining = new Map<RunningRevision, Promise<void>>();
  #isStopped = false;
  /** Serializes route changes, so that none overtakes a later one. */
  #routeUpdates: Promise<void> = Promise.resolve();
  /** The revision whose mount prefix is stored. */
  #mountPrefixOf: RunningRevision | undefined;
  /** Runs beside the route changes, so that a server that does not answer delays none. */
  #mountPrefixUpdates: Promise<void> = Promise.resolve();
  readonly #stopping = new AbortController();

  /** @param options.onDrained is called after replaced revision ended */
  constructor(options: {
    deploymentId: string;
    store: Pick<RolloutStore, 'setUpstreams' | 'setMountPrefix'>;
    onDrained: () => Promise<void>;
    logger: Logger;
  }) {
    this.#deploymentId = options.deploymentId;
    this.#store = options.store;
    this.#onDrained = options.onDrained;
    this.#logger = options.logger;
  }

  /** The id of the serving revision. */
  get revisionId(): string | undefined {
    return this.#current?.revisionId;
  }

  get isDraining(): boolean {
    return this.#draining.size > 0;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * Makes this revision the serving one and drains the one before. Returns false when everything was stopped meanwhile;
   * then this revision is stopped too.
   *
   * @param options.isMountPrefixStored its servers have answered at its activation, and need not be asked again
   */
  async replaceWith(running: RunningRevision, { isMountPrefixStored = false } = {}): Promise<boolean> {
    if (this.#isStopped) {
      await running.stop(SHORT_GRACE_MS);
      return false;
    }
    const replaced = this.#current;
    this.#current = running;
    if (isMountPrefixStored) this.#mountPrefixOf = running;
    this.#queueRouteUpdate(running);
    if (replaced) this.#drain(replaced);
    return true;
  }

  /** Handles a change of the revision's upstreams. */
  updateRoute(revisionId: string): void {
    if (this.#current?.revisionId === revisionId) this.#queueRouteUpdate(this.#current);
  }

  /** Ends all revisions, after it has withdrawn the route. */
  async stop(graceMs: number, { keepRoute, release }: StopOptions = {}): Promise<void> {
    this.#isStopped = true;
    this.#stopping.abort();
    const serving = this.#current;
    this.#current = undefined;
    await Promise.all([this.#routeUpdates, this.#mountPrefixUpdates]);
    if (serving && !keepRoute && !(release && serving.outlivesProcess)) {
      await this.#store.setUpstreams(this.#deploymentId, []).catch((error: unknown) => {
        this.#logger.warn('route withdrawal failed', { error });
      });
    }
    const end = (running: RunningRevision) => (release && running.release ? running.release() : running.stop(graceMs));
    await Promise.all([...(serving ? [serving] : []), ...this.#draining.keys()].map(end));
    await Promise.all(this.#draining.values());
  }

  /** Stores the revision's current upstreams. */
  #queueRouteUpdate(serving: RunningRevision): void {
    this.#routeUpdates = this.#routeUpdates.then(async () => {
      if (this.#current !== serving) return;
      try {
        await this.#store.setUpstreams(this.#deploymentId, serving.upstreams);
      } catch (error) {
        this.#logger.error('route update failed', { error });
      }
    });
    this.#mountPrefixUpdates = this.#mountPrefixUpdates.then(() => this.#storeMountPrefix(serving));
  }

  /**
   * Stores the revision's mount prefix unless it is known. It may be unknown because no server answered at the
   * activation, or because an older release activated the revision.
   */
  async #storeMountPrefix(serving: RunningRevision): Promise<void> {
    const { revisionId, upstreams } = serving;
    if (this.#current !== serving || this.#mountPrefixOf === serving) return;
    const mountPrefix = await readMountPrefix(upstreams, this.#stopping.signal);
    if (mountPrefix === undefined || this.#current !== serving) return;
    try {
      await this.#store.setMountPrefix(this.#deploymentId, revisionId, mountPrefix);
      this.#mountPrefixOf = serving;
    } catch (error) {
      this.#logger.warn('mount prefix not stored, its keyless paths need a key', { revisionId, error });
    }
  }

  #drain(replaced: RunningRevision): void {
    const drained = replaced
      .drain()
      .then(() => this.#logger.info('replaced revision ended', { revisionId: replaced.revisionId }))
      .catch((error: unknown) => this.#logger.error('replaced revision failed to drain', { error }))
      .finally(() => {
        this.#draining.delete(replaced);
        return this.#onDrained();
      });
    this.#draining.set(replaced, drained);
  }
}
