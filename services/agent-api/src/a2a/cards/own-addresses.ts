import type { IncomingHttpHeaders } from 'node:http';
import { requestBaseUrl } from '../../http/base-url.ts';

/** Names of this machine, as URLs have them. */
const LOOPBACK_NAMES: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** The address by which a client reached the deployment. */
export interface RequestedAddress {
  baseUrl: string;
  /** False for one that the deployment does not know as its own: the client, or somebody for it, made it up. */
  isOwn: boolean;
}

/**
 * Knows the addresses of the deployment. Requests name any host, so a card that is signed for whatever they name would
 * prove that the deployment is at the host of somebody else.
 */
export class OwnAddresses {
  readonly #urls: readonly URL[];

  /** @param urls of the deployment; without any it is at names of its machine alone */
  constructor(urls: readonly string[]) {
    this.#urls = urls.flatMap((url) => (URL.canParse(url) ? [new URL(url)] : []));
  }

  /** Returns the requested address. One of its own has the scheme that it is known by, whatever a proxy says. */
  find(headers: IncomingHttpHeaders): RequestedAddress {
    const baseUrl = requestBaseUrl(headers);
    const requested = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
    const own = requested && this.#findOwn(requested);
    if (!own) return { baseUrl, isOwn: false };
    return { baseUrl: `${own.protocol}//${requested.host}${pathOf(requested)}`, isOwn: true };
  }

  #findOwn(requested: URL): URL | undefined {
    if (this.#urls.length === 0) return LOOPBACK_NAMES.has(requested.hostname) ? requested : undefined;
    // A path below its own belongs to the deployment too: it may serve everything below a prefix.
    return this.#urls.find(
      (url) => isSameHost(url, requested) && `${pathOf(requested)}/`.startsWith(`${pathOf(url)}/`),
    );
  }
}

function isSameHost(one: URL, other: URL): boolean {
  if (one.host === other.host) return true;
  return one.port === other.port && [one, other].every(({ hostname }) => LOOPBACK_NAMES.has(hostname));
}

function pathOf({ pathname }: URL): string {
  return pathname.replace(/(?<!\/)\/+$/, '');
}
