import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { type AddressKind, classifyAddress, unwrapAddress } from './address-kind.ts';
import { OutboundRefusedError } from './errors.ts';

export interface OutboundRules {
  /** Name of the addressed object in messages: `Webhook`. */
  subject: string;
  /** True when `http:` is refused. Default false. */
  requireHttps?: boolean;
  /** Permitted hosts; `*.example.com` is every name below `example.com`, but not that itself. Default: any. */
  allowedDomains?: string[];
  /** Permitted ports; a URL without one has 443 or 80. Default: any. */
  allowedPorts?: number[];
  /** Maximum characters of a URL. Default 65536. */
  maxUrlLength?: number;
  /** True when this machine may be reached. Default: as `allowedNetworks` permits. */
  loopback?: boolean;
  /** Networks (CIDR) that may be reached although they are not public. Default: none. */
  allowedNetworks?: string[];
}

/** Matches names of this machine, whatever a resolver returns for them. */
const LOCAL_NAME =
  /^(localhost|.+\.localhost|localhost\.localdomain|ip6-localhost|ip6-loopback|host\.docker\.internal|gateway\.docker\.internal)$/;
/** Addresses that such a name may mean. */
const LOCAL_ADDRESSES = ['127.0.0.1', '::1'];
const METADATA_NAME = /^(metadata|metadata\.google\.internal|instance-data|instance-data\.ec2\.internal)$/;

/**
 * Decides which URLs and addresses may be reached for callers. URLs are checked when they are named (`checkUrl`). A
 * name may mean another address later, so addresses are checked again when they are connected to (`checkAddress`, by
 * `OutboundClient`).
 */
export class OutboundPolicy {
  readonly #rules: OutboundRules;
  readonly #networks: [ipaddr.IPv4 | ipaddr.IPv6, number][];
  readonly #domains: string[] | undefined;

  /** @throws Error that names an invalid network */
  constructor(rules: OutboundRules) {
    this.#rules = rules;
    this.#networks = (rules.allowedNetworks ?? []).map(parseNetwork);
    this.#domains = rules.allowedDomains?.map((domain) => domain.toLowerCase().replace(/\.$/, ''));
  }

  /**
   * Returns the URL, if it is permitted as far as can be decided without resolving its name.
   *
   * @throws OutboundRefusedError
   */
  checkUrl(text: string): URL {
    const { subject, requireHttps, allowedPorts, maxUrlLength = 65_536 } = this.#rules;
    if (text.length > maxUrlLength) throw this.#refusal(`URL is longer than ${maxUrlLength} characters`);
    let url: URL;
    try {
      url = new URL(text);
    } catch (cause) {
      throw new OutboundRefusedError(`${subject} URL is not valid`, { cause });
    }
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw this.#refusal('URL must begin with https:// or http://');
    if (requireHttps && url.protocol !== 'https:') throw this.#refusal('URL must begin with https://');
    if (url.username !== '' || url.password !== '') throw this.#refusal('URL must not hold a user name or a password');
    this.#checkHost(hostOf(url));
    const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
    if (allowedPorts && !allowedPorts.includes(port)) throw this.#refusal(`port not allowed: ${port}`);
    return url;
  }

  /** @throws OutboundRefusedError for an address (in the form of `net.isIP`) that is not permitted. */
  checkAddress(address: string): void {
    const kind = classifyAddress(address);
    if (kind === 'public' || this.#isAllowed(address, kind)) return;
    throw this.#blocked(kind);
  }

  /**
   * Checks what a name has resolved to.
   *
   * @throws OutboundRefusedError
   */
  checkResolved(address: string): void {
    try {
      this.checkAddress(address);
    } catch (error) {
      if (!(error instanceof OutboundRefusedError)) throw error;
      throw this.nameRefusal();
    }
  }

  /** Returns the refusal of a name. It has one text: who may choose names is not to learn which ones this network has. */
  nameRefusal(): OutboundRefusedError {
    return this.#refusal('host blocked: the name has no address that may be reached');
  }

  #checkHost(host: string): void {
    if (this.#domains && !this.#domains.some((domain) => matches(domain, host))) {
      throw this.#refusal(`host not allowed: ${host}`);
    }
    if (isIP(host)) this.checkAddress(host);
    else if (LOCAL_NAME.test(host) && !LOCAL_ADDRESSES.every((each) => this.#isAllowed(each, 'localhost')))
      throw this.#blocked('localhost');
    else if (METADATA_NAME.test(host)) throw this.#blocked('metadata');
  }

  #isAllowed(text: string, kind: AddressKind): boolean {
    const { loopback } = this.#rules;
    if (kind === 'localhost' && loopback !== undefined) return loopback;
    const address = unwrapAddress(text);
    return this.#networks.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
  }

  #blocked(kind: AddressKind): OutboundRefusedError {
    return this.#refusal(`host blocked: ${kind} address`);
  }

  #refusal(what: string): OutboundRefusedError {
    return new OutboundRefusedError(`${this.#rules.subject} ${what}`);
  }
}

/** Returns the host without brackets, and without the final dot of a full name. */
export function hostOf(url: URL): string {
  return url.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

function matches(domain: string, host: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) && host.length > domain.length - 1 : host === domain;
}

function parseNetwork(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  try {
    return ipaddr.parseCIDR(text);
  } catch (cause) {
    throw new Error(`"${text}" is not a network like 10.0.0.0/8.`, { cause });
  }
}
