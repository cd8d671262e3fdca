import { type Logger, PeriodicTask, TooManyRequestsError } from '@runyard/service-kit';
import type { KeyCheckResult } from './key-check.ts';

/** One request or websocket in flight with a key or a session. */
export interface OpenExchange {
  /** The id of the key or the session. */
  credentialId: string;
  /** Ids of whatever may end it: a key or session, an identity, an organization. */
  subjects: readonly string[];
  /** The caller's permissions when it began. */
  permissions: readonly string[];
  /** Checks its key again. */
  recheck(): KeyCheckResult | Promise<KeyCheckResult>;
  /** Ends it so that the client sees an incomplete answer. */
  cut(): void;
}

/**
 * Most requests end before this. Together with the age at which the cache renews an answer (2.5 s) and the time between
 * sweeps it keeps to the 5 s, also for an exchange that an ageing answer let in after the revocation.
 */
const RECHECK_AFTER_MS = 1_000;
const SWEEP_MS = 750;

/**
 * Limits how many exchanges one key may have open, and cuts those of a revoked key: it rechecks the key of every
 * exchange that stays open, and at once a key that may have been revoked. An exchange whose caller lost a permission is
 * cut too. While org-access is unavailable, exchanges stay.
 */
export class OpenExchanges {
  readonly #maxPerKey: number;
  readonly #byCredential = new Map<string, Set<OpenExchange & { openedAt: number }>>();
  readonly #task: PeriodicTask;

  constructor({ maxPerKey, logger }: { maxPerKey: number; logger: Logger }) {
    this.#maxPerKey = maxPerKey;
    this.#task = new PeriodicTask({ name: 'open exchanges', everyMs: SWEEP_MS, run: () => this.sweep(), logger });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  get size(): number {
    let size = 0;
    for (const exchanges of this.#byCredential.values()) size += exchanges.size;
    return size;
  }

  /**
   * Returns a function to call when the exchange has ended. @throws TooManyRequestsError when its key has as many open
   * as it may
   */
  add(exchange: OpenExchange): () => void {
    const entry = { ...exchange, openedAt: Date.now() };
    let exchanges = this.#byCredential.get(exchange.credentialId);
    if (exchanges && exchanges.size >= this.#maxPerKey) {
      throw new TooManyRequestsError('Too many requests with this key are open', {
        code: 'too_many_requests_of_key',
        retryAfterSeconds: 1,
      });
    }
    if (!exchanges) {
      exchanges = new Set();
      this.#byCredential.set(exchange.credentialId, exchanges);
    }
    exchanges.add(entry);
    return () => {
      exchanges.delete(entry);
      const { credentialId } = exchange;
      if (exchanges.size === 0 && this.#byCredential.get(credentialId) === exchanges) {
        this.#byCredential.delete(credentialId);
      }
    };
  }

  cutKey(keyId: string): void {
    for (const exchange of [...(this.#byCredential.get(keyId) ?? [])]) exchange.cut();
  }

  /** Checks the credentials of these keys, sessions, identities and organizations at once, and cuts those refused. */
  recheckSubjects(ids: ReadonlySet<string>): void {
    for (const exchanges of this.#byCredential.values()) {
      for (const exchange of exchanges) {
        if (exchange.subjects.some((id) => ids.has(id))) void this.#recheck(exchange);
      }
    }
  }

  sweep(): void {
    const before = Date.now() - RECHECK_AFTER_MS;
    for (const exchanges of this.#byCredential.values()) {
      for (const exchange of exchanges) if (exchange.openedAt < before) void this.#recheck(exchange);
    }
  }

  async #recheck(exchange: OpenExchange): Promise<void> {
    try {
      const answer = await exchange.recheck();
      // Only the upstream knows which rights the exchange needs: whoever lost any has to ask again.
      if (answer.kind !== 'good' || !holdsAll(answer.claims.permissions, exchange.permissions)) exchange.cut();
    } catch {
      // A failed check is no reason to break off a run's stream.
    }
  }
}

function holdsAll(held: readonly string[], needed: readonly string[]): boolean {
  return needed.every((permission) => held.includes(permission));
}
