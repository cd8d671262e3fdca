import type { IncomingMessage } from 'node:http';
import { ConfigError, provenAddress } from '@runyard/service-kit';
import ipaddr from 'ipaddr.js';
import { matchesNetwork, type Network, parseNetwork } from './network.ts';
import { firstValue, requestedHost } from './request-host.ts';
import type { PublicAddress } from './same-origin.ts';

/** Decides which peers are proxies whose forwarding headers are believed, and so which address a request comes from. */
export class ClientAddresses {
  readonly #trustsAll: boolean;
  readonly #proxies: readonly Network[];
  readonly #internalToken: string | undefined;

  /**
   * @param options.internalToken proves the addresses that services of the platform name, which call as people
   * @throws ConfigError
   */
  constructor(options: {
    trustsAll: boolean;
    proxies?: readonly string[] | undefined;
    internalToken?: string | undefined;
  }) {
    this.#internalToken = options.internalToken;
    this.#trustsAll = options.trustsAll;
    this.#proxies = (options.proxies ?? []).map(networkOf);
  }

  /** Returns whether the forwarding headers of a request are those of a trusted proxy. */
  trustsHeadersOf(req: IncomingMessage): boolean {
    return this.#trustsAll || this.#isProxy(req.socket.remoteAddress);
  }

  /** Returns the address that a request is counted to: that of the client, or its network where that is one subscriber. */
  of(req: IncomingMessage): string {
    return subjectOf(this.clientOf(req));
  }

  /**
   * Returns the address of the client: the peer, or the one that the proxies before it name. Entries of
   * `X-Forwarded-For` are read from the last, which the nearest proxy wrote: entries before the first stranger's are
   * the stranger's own word. A service of the platform names the address for which it calls, with the gateway's proof: it
   * is believed in that alone.
   */
  clientOf(req: IncomingMessage): string {
    const proven = this.#internalToken === undefined ? undefined : provenAddress(req.headers, this.#internalToken);
    if (proven !== undefined && ipaddr.isValid(proven)) return proven;
    const peer = req.socket.remoteAddress ?? 'unknown';
    if (!this.trustsHeadersOf(req)) return peer;
    const named = String(req.headers['x-forwarded-for'] ?? '').split(',');
    for (const entry of named.reverse()) {
      const address = entry.trim();
      if (!ipaddr.isValid(address)) break;
      if (!this.#isProxy(address)) return address;
    }
    return peer;
  }

  /** Returns the address that the client asked, as far as it is known: a proxy that is not trusted hides HTTPS. */
  publicAddressOf(req: IncomingMessage): PublicAddress {
    const isTrusted = this.trustsHeadersOf(req);
    const protocol = (isTrusted && firstValue(req.headers['x-forwarded-proto'])) || 'http';
    return { protocol, host: requestedHost(req, isTrusted) ?? '' };
  }

  #isProxy(text: string | undefined): boolean {
    if (this.#proxies.length === 0 || text === undefined || !ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.#proxies.some((network) => matchesNetwork(address, network));
  }
}

/** Returns the subject of an address. An IPv6 subscriber has a whole /64, and counts as one. */
function subjectOf(text: string): string {
  if (!text.includes(':') || !ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4') return address.toString();
  const prefix = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
}

function networkOf(text: string): Network {
  const network = parseNetwork(text);
  if (!network) throw new ConfigError([`TRUSTED_PROXIES: "${text}" is no address or network.`]);
  return network;
}
