import { type CloudEvent, conforms, DeploymentDeleted, DeploymentRouteChanged, KeyRevoked } from '@runyard/contracts';
import type { KeyCache } from './authentication/key-cache.ts';
import type { OpenExchanges } from './authentication/open-exchanges.ts';
import type { RouteFeed } from './routing/route-feed.ts';
import { Throttle } from './throttle.ts';

/**
 * Key ids that are remembered until the next check. Any beyond wait for their cache entry to age, as without the bus.
 */
const KEY_IDS_MAX = 10_000;

/**
 * Takes the events of the bus as hints where to look again. The content of an event is never believed: whoever can
 * write to the bus must not be able to move traffic or rights, nor to keep the gateway busy.
 */
export class BusHints {
  readonly #parts: { keys: KeyCache; exchanges: OpenExchanges; feed: RouteFeed };
  readonly #keyRechecks = new Throttle(() => this.#recheckKeys());
  #keyIds = new Set<string>();

  constructor(parts: { keys: KeyCache; exchanges: OpenExchanges; feed: RouteFeed }) {
    this.#parts = parts;
  }

  onEvent(event: CloudEvent): void {
    if (conforms(DeploymentRouteChanged, event) || conforms(DeploymentDeleted, event)) this.#parts.feed.hint();
    else if (conforms(KeyRevoked, event)) this.#hintRevokedKey(event.data.key_id);
  }

  stop(): void {
    this.#keyRechecks.stop();
  }

  #hintRevokedKey(keyId: string): void {
    if (this.#keyIds.size < KEY_IDS_MAX) this.#keyIds.add(keyId);
    this.#keyRechecks.trigger();
  }

  #recheckKeys(): void {
    const keyIds = this.#keyIds;
    this.#keyIds = new Set();
    this.#parts.keys.invalidate(keyIds);
    this.#parts.exchanges.recheckKeys(keyIds);
  }
}
