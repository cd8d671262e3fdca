import type { SourceConfig } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';
import type { RolloutDeployment } from '../revisions/rollout-rows.ts';
import { invalidSource } from '../sources/source-fields.ts';
import { CustomDomains, hostOf, isAtOrBelow, isSameHost } from './custom-domains.ts';

/** The deployment to which a URL leads, as the URL names it. */
export type DeploymentAddress = { path: string } & ({ /** Id or slug. */ reference: string } | { customHost: string });

export interface HostNamesOptions {
  /** The base URL of the gateway for clients. */
  publicUrl: string;
  /** The gateway serves deployments at `<slug>.<domain>`; undefined: only below its own host. */
  domain?: string | undefined;
  /** Domains where deployments may claim names by `custom_url`, as CUSTOM_DOMAINS lists them. */
  customDomains?: readonly string[] | undefined;
  /** The URL of the registry for image tools, which may have a name of its own. */
  registryUrl?: string | undefined;
  /** URLs of other services of the platform. */
  serviceUrls?: readonly string[] | undefined;
  /** URLs of pages of the operator to which people are sent. */
  frontEndUrls?: readonly string[] | undefined;
}

/**
 * Returns the URLs at which clients reach deployments through the gateway: below its own host, and at a host of the
 * deployment's own.
 */
export class HostNames {
  readonly #publicUrl: string;
  readonly #publicHost: string;
  readonly #domain: string | undefined;
  readonly #customDomains: CustomDomains;

  /** @throws ConfigError when a host of the platform lies in the domain of the deployments, or a custom domain is wrong */
  constructor({
    publicUrl,
    domain,
    customDomains = [],
    registryUrl = publicUrl,
    serviceUrls = [],
    frontEndUrls = [],
  }: HostNamesOptions) {
    this.#publicUrl = publicUrl.replace(/(?<!\/)\/+$/, '');
    this.#publicHost = hostOf(new URL(publicUrl));
    this.#domain = domain?.toLowerCase();
    const ownNames = Object.entries({ PUBLIC_URL: publicUrl, REGISTRY_URL: registryUrl });
    const below = ownNames.find(([, url]) => domain !== undefined && hostOf(new URL(url)).endsWith(`.${this.#domain}`));
    if (below) {
      throw new ConfigError([
        `${below[0]} (${below[1]}) is below DEPLOYMENTS_DOMAIN (${domain}), where deployments are: choose another domain.`,
      ]);
    }
    this.#customDomains = new CustomDomains({
      entries: customDomains,
      platformUrls: [publicUrl, registryUrl, ...serviceUrls],
      slugDomain: this.#domain,
      frontEndUrls,
    });
  }

  /** Returns the URL below the gateway's own host, which works without any DNS entry for the deployment. */
  pathUrlOf({ id }: Pick<RolloutDeployment, 'id'>): string {
    return `${this.#publicUrl}/deployments/${id}`;
  }

  /** Returns all URLs by which the gateway leads clients to the deployment. */
  urlsOf(deployment: Pick<RolloutDeployment, 'id' | 'name' | 'slug' | 'customHost' | 'workspaceId'>): string[] {
    const { name, slug, customHost, workspaceId } = deployment;
    const { protocol, port } = new URL(this.#publicUrl);
    const isReached = customHost !== null && this.isAllowedHost(customHost, workspaceId);
    return [
      this.pathUrlOf(deployment),
      ...[slug, encodeURIComponent(name)].map((reference) => `${this.#publicUrl}/deployments/${reference}`),
      this.slugUrlOf(deployment),
      isReached ? `${protocol}//${customHost}${port && `:${port}`}` : null,
    ].filter((url) => url !== null);
  }

  /** Returns the root URL of the host named by its slug; null without a domain for deployments. */
  slugUrlOf({ slug }: Pick<RolloutDeployment, 'slug'>): string | null {
    if (this.#domain === undefined) return null;
    const { protocol, port } = new URL(this.#publicUrl);
    return `${protocol}//${slug}.${this.#domain}${port && `:${port}`}`;
  }

  /**
   * Returns the URL to show where there is one field for it: the host of the slug, except in a domain such as
   * `localhost` whose subdomains not all clients resolve.
   */
  defaultUrlOf(deployment: Pick<RolloutDeployment, 'id' | 'slug'>): string {
    const isResolved = this.#domain !== undefined && !isAtOrBelow(this.#domain, 'localhost');
    return (isResolved && this.slugUrlOf(deployment)) || this.pathUrlOf(deployment);
  }

  /**
   * Returns the host that the gateway routes to the deployment because its `custom_url` is the root of that host. Null
   * for other URLs: their owners route them to the gateway. Only names in domains that the platform's operator lists
   * are claimed, since otherwise a deployment could claim any name that leads to the gateway and receive what clients
   * send to others.
   *
   * @throws BadRequestError when the name belongs to the platform, to the domain of the slugs or to another workspace
   */
  customHostOf({ custom_url: url, listener_id: listenerId }: SourceConfig, workspaceId: string): string | null {
    if (url == null || listenerId != null || !isRoot(url)) return null;
    const host = hostOf(new URL(url));
    const claim = this.#customDomains.claimOf(host, workspaceId);
    if (claim === 'of_platform')
      throw invalidSource(`the host of 'source_config.custom_url' is the platform's: ${host}`);
    if (claim === 'of_other_workspace')
      throw invalidSource(`the host of 'source_config.custom_url' is another workspace's: ${host}`);
    return claim === 'allowed' ? host : null;
  }

  /**
   * Returns whether deployments of the workspace may claim this host under the platform's current settings. Earlier
   * settings may have allowed it.
   */
  isAllowedHost(host: string, workspaceId: string): boolean {
    return this.#customDomains.claimOf(host, workspaceId) === 'allowed';
  }

  /** Returns whether the operator gives this host to the workspace and to no other. */
  isGivenTo(host: string, workspaceId: string): boolean {
    return this.#customDomains.isGivenTo(host, workspaceId);
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
    if (this.#customDomains.isClaimable(host)) return { customHost: host, path };
    const base = `${own.pathname.replace(/(?<!\/)\/+$/, '')}/deployments/`;
    if (!isSameHost(host, this.#publicHost) || !path.startsWith(base)) return null;
    const [reference = '', ...rest] = path.slice(base.length).split('/');
    return reference === '' ? null : { reference, path: rest.length === 0 ? '' : `/${rest.join('/')}` };
  }
}

/** Returns whether the URL is the root of its host. */
export function isRoot(url: string): boolean {
  const { href, origin } = new URL(url);
  return href === `${origin}/`;
}
