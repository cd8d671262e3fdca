import type { DeploymentRoute } from '@runyard/contracts';
import { UnavailableError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';
import type { UpstreamLoad } from '../limits/upstream-load.ts';

/** Milliseconds that an avoided upstream stays last: a little longer than a stopping process takes requests. */
const AVOIDED_MS = 6_000;

/**
 * Orders the upstreams of a deployment: the least loaded first, equals in turn, and after the others those that stop or
 * cannot be reached.
 */
export class UpstreamChoice {
  readonly #load: UpstreamLoad;
  readonly #turns = new WeakMap<DeploymentRoute, number>();
  readonly #avoided = new LRUCache<string, true>({ max: 10_000, ttl: AVOIDED_MS });

  constructor(load: UpstreamLoad) {
    this.#load = load;
  }

  /** Returns all upstreams, in the order to be tried. @throws UnavailableError when there is none. */
  of(route: DeploymentRoute): readonly string[] {
    const { upstreams } = route;
    if (upstreams.length === 0) {
      throw new UnavailableError('The deployment is not running at the moment', {
        code: 'deployment_not_running',
        retryAfterSeconds: 5,
      });
    }
    if (upstreams.length === 1) return upstreams;
    const turn = (this.#turns.get(route) ?? 0) % upstreams.length;
    this.#turns.set(route, turn + 1);
    const inTurn = [...upstreams.slice(turn), ...upstreams.slice(0, turn)];
    const rank = (upstream: string) => Number(this.#avoided.has(upstream));
    return inTurn.sort((one, other) => rank(one) - rank(other) || this.#load.of(one) - this.#load.of(other));
  }

  /** Puts an upstream after the others for some seconds. */
  avoid(upstream: string): void {
    this.#avoided.set(upstream, true);
  }
}
