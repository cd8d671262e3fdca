import { HOST_NAME_PATTERN, isUuid } from '@runyard/contracts';
import { ConfigError } from '@runyard/service-kit';

const HOST_NAME = new RegExp(HOST_NAME_PATTERN);

/** A domain whose name, and all names below it, deployments may claim. */
interface CustomDomain {
  domain: string;
  /** The workspace whose deployments alone may; undefined: those of every workspace, the first that claims a name. */
  workspaceId: string | undefined;
}

/** The answer to a deployment that claims a host: it may, or why not. */
export type HostClaim = 'allowed' | 'not_listed' | 'of_platform' | 'of_other_workspace';

export interface CustomDomainsOptions {
  /** Entries as the operator writes them: `acme.com`, or `acme.com=<workspace id>`. */
  entries: readonly string[];
  /** URLs by which the platform itself is reached: their hosts are claimed by nobody. */
  platformUrls: readonly string[];
  /** The domain of the slugs: it and all names below it are claimed by nobody. */
  slugDomain: string | undefined;
  /** URLs of the operator's own front ends: a deployment claims their hosts only where an entry names its workspace. */
  frontEndUrls: readonly string[];
}

/** Decides which hosts deployments may claim by `custom_url`. Of several entries for a host the longest decides. */
export class CustomDomains {
  readonly #domains: readonly CustomDomain[];
  readonly #platformHosts: readonly string[];
  readonly #frontEndHosts: readonly string[];
  readonly #slugDomain: string | undefined;

  /** @throws ConfigError for entries that contradict each other, or give away a name of the platform */
  constructor({ entries, platformUrls, slugDomain, frontEndUrls }: CustomDomainsOptions) {
    this.#platformHosts = platformUrls.map((url) => hostOf(new URL(url)));
    this.#frontEndHosts = frontEndUrls.map((url) => hostOf(new URL(url)));
    this.#slugDomain = slugDomain?.toLowerCase();
    this.#domains = entries.map(parseEntry).sort((one, other) => other.domain.length - one.domain.length);
    const problems = this.#domains.flatMap((each, index) => this.#problemsOf(each, this.#domains.slice(0, index)));
    if (problems.length > 0) throw new ConfigError(problems);
  }

  claimOf(host: string, workspaceId: string): HostClaim {
    const entry = this.#entryOf(host);
    if (!entry) return 'not_listed';
    if (this.#isPlatforms(host)) return 'of_platform';
    if (entry.workspaceId === undefined) return this.#frontEndHosts.includes(host) ? 'of_platform' : 'allowed';
    return entry.workspaceId === workspaceId ? 'allowed' : 'of_other_workspace';
  }

  /** Returns whether the operator gives the host to this workspace and to no other. */
  isGivenTo(host: string, workspaceId: string): boolean {
    return this.#entryOf(host)?.workspaceId === workspaceId;
  }

  /** Returns whether deployments of any workspace may claim the host. */
  isClaimable(host: string): boolean {
    return ['allowed', 'of_other_workspace'].includes(this.claimOf(host, ''));
  }

  #entryOf(host: string): CustomDomain | undefined {
    return this.#domains.find(({ domain }) => isAtOrBelow(host, domain));
  }

  #isPlatforms(host: string): boolean {
    const isOfSlugs = this.#slugDomain !== undefined && isAtOrBelow(host, this.#slugDomain);
    return isOfSlugs || this.#platformHosts.some((each) => isSameHost(host, each));
  }

  #problemsOf({ domain, workspaceId }: CustomDomain, others: readonly CustomDomain[]): string[] {
    if (others.some((other) => other.domain === domain)) return [`CUSTOM_DOMAINS names ${domain} twice.`];
    if (workspaceId === undefined || !this.#isPlatforms(domain)) return [];
    return [`CUSTOM_DOMAINS gives ${domain} to a workspace, and the platform is reached by that name.`];
  }
}

/** @throws ConfigError */
function parseEntry(entry: string): CustomDomain {
  const [domain = '', workspaceId, ...rest] = entry.toLowerCase().split('=');
  const isWorkspace = workspaceId === undefined || isUuid(workspaceId);
  if (HOST_NAME.test(domain) && isWorkspace && rest.length === 0) return { domain, workspaceId };
  throw new ConfigError([
    `CUSTOM_DOMAINS: "${entry}" is neither a domain, as acme.com, nor one with its workspace, as acme.com=<workspace id>.`,
  ]);
}

export function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

export function isAtOrBelow(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** On one machine `localhost` and `127.0.0.1` are the same place. */
export function isSameHost(one: string, other: string): boolean {
  const isLoopback = (host: string) => host === 'localhost' || host === '127.0.0.1';
  return one === other || (isLoopback(one) && isLoopback(other));
}
