import type { DeploymentRoute } from '@runyard/contracts';
import { UnavailableError } from '@runyard/service-kit';

/** Takes a deployment's upstreams in turn. */
export class UpstreamChoice {
  readonly #turns = new WeakMap<DeploymentRoute, number>();

  /** All upstreams, starting with the one whose turn it is. @throws UnavailableError when there is none. */
  of(route: DeploymentRoute): readonly string[] {
    const { upstreams } = route;
    if (upstreams.length === 0) {
      throw new UnavailableError('The deployment is not running at the moment', { retryAfterSeconds: 5 });
    }
    if (upstreams.length === 1) return upstreams;
    const turn = (this.#turns.get(route) ?? 0) % upstreams.length;
    this.#turns.set(route, turn + 1);
    return [...upstreams.slice(turn), ...upstreams.slice(0, turn)];
  }
}
