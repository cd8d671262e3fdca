import type { SourceConfig } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';
import type { Deployment } from '../generated/client.ts';
import { wrongSource } from './source-fields.ts';

export interface HostNamesOptions {
  /** Where clients reach the gateway. */
  publicUrl: string;
  /** The gateway serves deployments at `<slug>.<domain>`; undefined: only below its own host. */
  domain?: string | undefined;
  /** Domains whose names deployments may take by `custom_url`. */
  customDomains?: readonly string[] | undefined;
}

/** Where clients reach deployments through the gateway: below its own host, and at a host of the deployment's own. */
export class HostNames {
  readonly #publicUrl: string;
  readonly #publicHost: string;
  readonly #domain: string | undefined;
  readonly #customDomains: readonly string[];

  /** @throws ConfigError when the platform itself would be at a host that is for deployments */
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

  /** Below the gateway's own host; works whatever names can be resolved. */
  pathUrlOf({ id }: Pick<Deployment, 'id'>): string {
    return `${this.#publicUrl}/deployments/${id}`;
  }

  /** The root of the host of its slug; null where deployments have none. */
  slugUrlOf({ slug }: Pick<Deployment, 'slug'>): string | null {
    if (this.#domain === undefined) return null;
    const { protocol, port } = new URL(this.#publicUrl);
    return `${protocol}//${slug}.${this.#domain}${port && `:${port}`}`;
  }

  /** Where clients are sent that ask for one address: by name, unless that is a name that not all of them resolve. */
  defaultUrlOf(deployment: Pick<Deployment, 'id' | 'slug'>): string {
    const isResolved = this.#domain !== undefined && !isAtOrBelow(this.#domain, 'localhost');
    return (isResolved && this.slugUrlOf(deployment)) || this.pathUrlOf(deployment);
  }

  /**
   * The host that the gateway takes for the deployment's because its `custom_url` is the root of it. Null where that is for others to
   * lead to the gateway, by a host or path of their own: whoever operates the platform says which names may be taken here, since with
   * any name that leads to the gateway a deployment would take what others send there.
   *
   * @throws BadRequestError when the name is the platform's, or is for the slugs of deployments
   */
  customHostOf({ custom_url: url, listener_id: listenerId }: SourceConfig): string | null {
    if (url == null || listenerId != null || !isRoot(url)) return null;
    const host = hostOf(new URL(url));
    if (!this.#isGivenAway(host)) return null;
    if (!this.mayBeTaken(host)) {
      throw wrongSource(`the host of 'source_config.custom_url' is the platform's: ${host}`);
    }
    return host;
  }

  /** Whether a host that a deployment has taken is for deployments to take, as the platform's settings are now. */
  mayBeTaken(host: string): boolean {
    const isPlatforms = host === this.#publicHost || (this.#domain !== undefined && isAtOrBelow(host, this.#domain));
    return this.#isGivenAway(host) && !isPlatforms;
  }

  #isGivenAway(host: string): boolean {
    return this.#customDomains.some((domain) => isAtOrBelow(host, domain));
  }
}

/** Whether the URL is all of a host. */
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
