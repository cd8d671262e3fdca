import type { SourceConfig } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';
import type { Deployment } from '../generated/client.ts';
import { invalidSource } from './source-fields.ts';

export interface HostNamesOptions {
  /** The base URL of the gateway for clients. */
  publicUrl: string;
  /** The gateway serves deployments at `<slug>.<domain>`; undefined: only below its own host. */
  domain?: string | undefined;
  /** Domains whose names deployments may claim by `custom_url`. */
  customDomains?: readonly string[] | undefined;
}

/**
 * Returns the URLs at which clients reach deployments through the gateway: below its own host, and at a host of the
 * deployment's own.
 */
export class HostNames {
  readonly #publicUrl: string;
  readonly #publicHost: string;
  readonly #domain: string | undefined;
  readonly #customDomains: readonly string[];

  /** @throws ConfigError when the platform's own host lies in the domain of the deployments */
  constructor({ publicUrl, domain, customDomains = [] }: HostNamesOptions) {
    this.#publicUrl = publicUrl.replace(/\/+$/, '');
    this.#publicHost = hostOf(new URL(publicUrl));
    this.#domain = domain?.toLowerCase();
    this.#customDomains = customDomains.map((each) => each.toLowerCase());
    if (this.#domain !== undefined && this.#publicHost.endsWith(`.${this.#domain}`)) {
      throw new ConfigError([
        `PUBLIC_URL (${publicUrl}) is below DEPLOYMENTS_DOMAIN (${domain}), where deployments are: choose another domain.`,
      ]);
    }
  }

  /** Returns the URL below the gateway's own host, which works without any DNS entry for the deployment. */
  pathUrlOf({ id }: Pick<Deployment, 'id'>): string {
    return `${this.#publicUrl}/deployments/${id}`;
  }

  /** Returns the root URL of the host named by its slug; null without a domain for deployments. */
  slugUrlOf({ slug }: Pick<Deployment, 'slug'>): string | null {
    if (this.#domain === undefined) return null;
    const { protocol, port } = new URL(this.#publicUrl);
    return `${protocol}//${slug}.${this.#domain}${port && `:${port}`}`;
  }

  /**
   * Returns the URL to show where there is one field for it: the host of the slug, except in a domain such as
   * `localhost` whose subdomains not all clients resolve.
   */
  defaultUrlOf(deployment: Pick<Deployment, 'id' | 'slug'>): string {
    const isResolved = this.#domain !== undefined && !isAtOrBelow(this.#domain, 'localhost');
    return (isResolved && this.slugUrlOf(deployment)) || this.pathUrlOf(deployment);
  }

  /**
   * Returns the host that the gateway routes to the deployment because its `custom_url` is the root of that host. Null
   * for other URLs: their owners route them to the gateway. Only names in domains that the platform's operator lists
   * are claimed, since otherwise a deployment could claim any name that leads to the gateway and receive what clients
   * send to others.
   *
   * @throws BadRequestError when the name belongs to the platform or to the domain of the slugs
   */
  customHostOf({ custom_url: url, listener_id: listenerId }: SourceConfig): string | null {
    if (url == null || listenerId != null || !isRoot(url)) return null;
    const host = hostOf(new URL(url));
    if (!this.#isCustomDomain(host)) return null;
    if (!this.isAllowedHost(host)) {
      throw invalidSource(`the host of 'source_config.custom_url' is the platform's: ${host}`);
    }
    return host;
  }

  /**
   * Returns whether deployments may claim this host under the platform's current settings. Earlier settings may have
   * allowed it.
   */
  isAllowedHost(host: string): boolean {
    const isPlatforms = host === this.#publicHost || (this.#domain !== undefined && isAtOrBelow(host, this.#domain));
    return this.#isCustomDomain(host) && !isPlatforms;
  }

  #isCustomDomain(host: string): boolean {
    return this.#customDomains.some((domain) => isAtOrBelow(host, domain));
  }
}

/** Returns whether the URL is the root of its host. */
export function isRoot(url: string): boolean {
  const { href, origin } = new URL(url);
  return href === `${origin}/`;
}

function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

function isAtOrBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
