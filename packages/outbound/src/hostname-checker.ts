import { isIP } from 'node:net';
import type { Lookup } from './checked-lookup.ts';
import { OutboundRefusedError } from './errors.ts';
import { hostOf, type OutboundPolicy } from './outbound-policy.ts';
import { systemLookup } from './system-lookup.ts';

interface CachedCheck {
  until: number;
  refusal: Promise<OutboundRefusedError | undefined>;
}

/**
 * Finds early that a name means a forbidden address or does not exist, so that the caller learns it when naming it.
 * Names of which the resolver says nothing in time pass: only the check at connection time is decisive.
 */
export class HostnameChecker {
  readonly #policy: OutboundPolicy;
  readonly #lookup: Lookup;
  readonly #options: { timeoutMs: number; cacheMs: number; maxNames: number };
  /** Checked names, oldest first. */
  readonly #checked = new Map<string, CachedCheck>();

  constructor(
    policy: OutboundPolicy,
    options: { lookup?: Lookup; timeoutMs?: number; cacheMs?: number; maxNames?: number } = {},
  ) {
    this.#policy = policy;
    this.#lookup = options.lookup ?? systemLookup;
    const { timeoutMs = 1_000, cacheMs = 30_000, maxNames = 1_000 } = options;
    this.#options = { timeoutMs, cacheMs, maxNames };
  }

  /** @throws OutboundRefusedError */
  async check(url: URL): Promise<void> {
    const host = hostOf(url);
    if (isIP(host)) return;
    const refusal = await this.#findRefusal(host);
    if (refusal) throw refusal;
  }

  #findRefusal(host: string): Promise<OutboundRefusedError | undefined> {
    const cached = this.#checked.get(host);
    if (cached && cached.until > performance.now()) return cached.refusal;
    const refusal = this.#lookUp(host);
    this.#checked.delete(host);
    this.#checked.set(host, { until: performance.now() + this.#options.cacheMs, refusal });
    if (this.#checked.size > this.#options.maxNames) this.#checked.delete(this.#checked.keys().next().value as string);
    return refusal;
  }

  #lookUp(host: string): Promise<OutboundRefusedError | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.timeoutMs, undefined);
      this.#lookup(host, { all: true }, (error, addresses) => {
        clearTimeout(timer);
        if (error) resolve(error.code === 'ENOTFOUND' ? this.#policy.nameRefusal() : undefined);
        else resolve(this.#firstRefusal(addresses.map(({ address }) => address)));
      });
    });
  }

  #firstRefusal(addresses: string[]): OutboundRefusedError | undefined {
    for (const address of addresses) {
      try {
        this.#policy.checkResolved(address);
      } catch (error) {
        if (error instanceof OutboundRefusedError) return error;
      }
    }
    return undefined;
  }
}
