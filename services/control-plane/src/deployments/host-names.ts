import type { SourceConfig } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';
import type { Deployment } from '../generated/client.ts';
import { invalidSource } from './source-fields.ts';

/** The deployment to which a URL leads, as the URL names it. */
export type DeploymentAddress = { path: string } & ({ /** Id or slug. */ reference: string } | { customHost: string });

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
    this.#publicUrl = publicUrl.replace(/(?<!\/)\/+$/, '');
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

  /**
   * Returns how the gateway finds the deployment of a URL, and the rest of the path; null for a URL that is none of a
   * deployment. Names of deployments mean something only to callers of their workspace, so the reference is an id or a
   * slug.
   */
  locate(text: string): DeploymentAddress | null {
    const own = new URL(this.#publicUrl);
    const url = URL.canParse(text) ? new URL(text) : null;
    if (!url || url.protocol !== own.protocol || url.port !== own.port) return null;
    const { pathname: path } = url;
    const host = hostOf(url);
    if (this.#domain !== undefined && host.endsWith(`.${this.#domain}`)) {
      return { reference: host.slice(0, -this.#domain.length - 1), path };
    }
    if (this.isAllowedHost(host)) return { customHost: host, path };
    const base = `${own.pathname.replace(/(?<!\/)\/+$/, '')}/deployments/`;
    if (!isSameHost(host, this.#publicHost) || !path.startsWith(base)) return null;
    const [reference = '', ...rest] = path.slice(base.length).split('/');
    return reference === '' ? null : { reference, path: rest.length === 0 ? '' : `/${rest.join('/')}` };
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

/** On one machine `localhost` and `127.0.0.1` are the same place. */
function isSameHost(one: string, other: string): boolean {
  const isLoopback = (host: string) => host === 'localhost' || host === '127.0.0.1';
  return one === other || (isLoopback(one) && isLoopback(other));
}
