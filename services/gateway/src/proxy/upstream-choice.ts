import type { DeploymentRoute } from '@runyard/contracts';
import { UnavailableError } from '@runyard/service-kit';
import { LRUCache } from 'lru-cache';

/** As long as a stopping process takes requests, and a little longer. */
const AVOIDED_MS = 6_000;

/** Takes a deployment's upstreams in turn, those that stop or cannot be reached after the others. */
export class UpstreamChoice {
  readonly #turns = new WeakMap<DeploymentRoute, number>();
  readonly #avoided = new LRUCache<string, true>({ max: 10_000, ttl: AVOIDED_MS });

  /** All upstreams, in the order to be tried. @throws UnavailableError when there is none. */
  of(route: DeploymentRoute): readonly string[] {
    const { upstreams } = route;
    if (upstreams.length === 0) {
      throw new UnavailableError('The deployment is not running at the moment', { retryAfterSeconds: 5 });
    }
    if (upstreams.length === 1) return upstreams;
    const turn = (this.#turns.get(route) ?? 0) % upstreams.length;
    this.#turns.set(route, turn + 1);
    const inTurn = [...upstreams.slice(turn), ...upstreams.slice(0, turn)];
    if (this.#avoided.size === 0) return inTurn;
    const isAvoided = (upstream: string) => this.#avoided.has(upstream);
    return [...inTurn.filter((upstream) => !isAvoided(upstream)), ...inTurn.filter(isAvoided)];
  }

  /** For some seconds others are tried first. */
  avoid(upstream: string): void {
    this.#avoided.set(upstream, true);
  }
}
