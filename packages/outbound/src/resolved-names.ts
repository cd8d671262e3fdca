import { isIP } from 'node:net';
import type { Lookup } from './checked-lookup.ts';
import { OutboundRefusedError } from './errors.ts';
import { hostOf, type OutboundPolicy } from './outbound-policy.ts';
import { systemLookup } from './system-lookup.ts';

interface Known {
  until: number;
  refusal: Promise<OutboundRefusedError | undefined>;
}

/**
 * Finds early that a name means a forbidden address, so that the caller learns it when naming it. Names that do not
 * resolve in time pass: only the check at connection time is decisive.
 */
export class ResolvedNames {
  readonly #policy: OutboundPolicy;
  readonly #lookup: Lookup;
  readonly #options: { patienceMs: number; rememberMs: number; maxNames: number };
  /** Known names, oldest first. */
  readonly #known = new Map<string, Known>();

  constructor(
    policy: OutboundPolicy,
    options: { lookup?: Lookup; patienceMs?: number; rememberMs?: number; maxNames?: number } = {},
  ) {
    this.#policy = policy;
    this.#lookup = options.lookup ?? systemLookup;
    const { patienceMs = 1_000, rememberMs = 30_000, maxNames = 1_000 } = options;
    this.#options = { patienceMs, rememberMs, maxNames };
  }

  /** @throws OutboundRefusedError */
  async check(url: URL): Promise<void> {
    const host = hostOf(url);
    if (isIP(host)) return;
    const refusal = await this.#refusalOf(host);
    if (refusal) throw refusal;
  }

  #refusalOf(host: string): Promise<OutboundRefusedError | undefined> {
    const known = this.#known.get(host);
    if (known && known.until > performance.now()) return known.refusal;
    const refusal = this.#ask(host);
    this.#known.delete(host);
    this.#known.set(host, { until: performance.now() + this.#options.rememberMs, refusal });
    if (this.#known.size > this.#options.maxNames) this.#known.delete(this.#known.keys().next().value as string);
    return refusal;
  }

  #ask(host: string): Promise<OutboundRefusedError | undefined> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, this.#options.patienceMs, undefined);
      this.#lookup(host, { all: true }, (error, addresses) => {
        clearTimeout(timer);
        resolve(error ? undefined : this.#firstRefusal(addresses.map(({ address }) => address)));
      });
    });
  }

  #firstRefusal(addresses: string[]): OutboundRefusedError | undefined {
    for (const address of addresses) {
      try {
        this.#policy.checkAddress(address);
      } catch (error) {
        if (error instanceof OutboundRefusedError) return error;
      }
    }
    return undefined;
  }
}
