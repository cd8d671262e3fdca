import type { IncomingMessage } from 'node:http';
import type { RateLimits } from '../limits/rate-limits.ts';
import type { ClientAddresses } from '../requests/client-address.ts';
import type { KeyCache } from './key-cache.ts';
import type { KeyCheckRequest, KeyCheckResult } from './key-check.ts';

/** Checks the keys of one request. */
export type KeyChecker = (request: KeyCheckRequest) => KeyCheckResult | Promise<KeyCheckResult>;

/**
 * Makes guessing cheap to refuse: after too many failed attempts from an address, keys that are not known to be good
 * are not checked any more. Known ones still are, so that one guesser does not lock out those who share its address.
 */
export class GuessGuard {
  readonly #keys: KeyCache;
  readonly #limits: RateLimits;
  readonly #addresses: ClientAddresses;
  /** Requests that failed already: each fails once, however often its key is checked. */
  readonly #failed = new WeakSet<IncomingMessage>();

  constructor(parts: { keys: KeyCache; limits: RateLimits; addresses: ClientAddresses }) {
    this.#keys = parts.keys;
    this.#limits = parts.limits;
    this.#addresses = parts.addresses;
  }

  checkerFor(req: IncomingMessage): KeyChecker {
    // A recheck of the key that let its request in is never refused: a revoked key must be found out.
    let wasGood = false;
    return async (request) => {
      const refusal = wasGood ? undefined : this.#limits.refusalOfGuesses(this.#addresses.of(req));
      if (refusal && !this.#keys.isKnownGood(request)) throw refusal;
      const answer = await this.#keys.check(request);
      if (answer.kind === 'refused') this.countFailure(req);
      wasGood ||= answer.kind === 'good';
      return answer;
    };
  }

  /** @throws TooManyRequestsError */
  refuseGuesses(req: IncomingMessage): void {
    const refusal = this.#limits.refusalOfGuesses(this.#addresses.of(req));
    if (refusal) throw refusal;
  }

  countFailure(req: IncomingMessage): void {
    if (this.#failed.has(req)) return;
    this.#failed.add(req);
    this.#limits.countFailure(this.#addresses.of(req));
  }
}
