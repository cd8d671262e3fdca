import {
  type CloudEvent,
  conforms,
  DeploymentDeleted,
  DeploymentRouteChanged,
  IdentityChanged,
  IdentityRemoved,
  KeyRevoked,
  OrganizationSettingsChanged,
  SessionChanged,
  SessionEnded,
} from '@runyard/contracts';
import type { KeyCache } from './authentication/key-cache.ts';
import type { OpenExchanges } from './authentication/open-exchanges.ts';
import type { RouteFeed } from './routing/route-feed.ts';
import { Throttle } from './throttle.ts';

/**
 * Ids that are remembered until the next check. Any beyond wait for their cache entry to age, as without the bus.
 */
const IDS_MAX = 10_000;

/**
 * Takes the events of the bus as hints where to look again. The content of an event is never believed: whoever can
 * write to the bus must not be able to move traffic or rights, nor to keep the gateway busy.
 */
export class BusHints {
  readonly #parts: { keys: KeyCache; exchanges: OpenExchanges; feed: RouteFeed };
  readonly #rechecks = new Throttle(() => this.#recheck());
  /** Ids of keys, sessions, identities and organizations. */
  #ids = new Set<string>();

  constructor(parts: { keys: KeyCache; exchanges: OpenExchanges; feed: RouteFeed }) {
    this.#parts = parts;
  }

  onEvent(event: CloudEvent): void {
    if (conforms(DeploymentRouteChanged, event) || conforms(DeploymentDeleted, event)) this.#parts.feed.hint();
    else if (conforms(KeyRevoked, event)) this.#hint(event.data.key_id);
    else if (conforms(SessionEnded, event) || conforms(SessionChanged, event)) this.#hint(event.data.session_id);
    else if (conforms(IdentityChanged, event) || conforms(IdentityRemoved, event)) this.#hint(event.data.identity_id);
    // Its networks may be others.
    else if (conforms(OrganizationSettingsChanged, event)) this.#hint(event.data.organization_id);
  }

  stop(): void {
    this.#rechecks.stop();
  }

  #hint(id: string): void {
    if (this.#ids.size < IDS_MAX) this.#ids.add(id);
    this.#rechecks.trigger();
  }

  #recheck(): void {
    const ids = this.#ids;
    this.#ids = new Set();
    this.#parts.keys.invalidate(ids);
    this.#parts.exchanges.recheckSubjects(ids);
  }
}
