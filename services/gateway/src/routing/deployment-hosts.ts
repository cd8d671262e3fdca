import type { DeploymentRoute } from '@runyard/contracts';
import type { DeploymentTable } from './deployment-table.ts';

/** Tells the host names of deployments from all others, which are the platform's. */
export class DeploymentHosts {
  readonly #table: DeploymentTable;
  /** The domain with the dot before it. */
  readonly #suffix: string | undefined;

  /** @param domain deployments are at `<slug>.<domain>`; undefined when they have only the names of their own */
  constructor(table: DeploymentTable, domain: string | undefined) {
    this.#table = table;
    this.#suffix = domain === undefined ? undefined : `.${domain.toLowerCase()}`;
  }

  /** Returns whether the name is for deployments alone, known or not: nothing of the platform is served there. */
  isDeploymentHost(host: string): boolean {
    return this.#isBelowDomain(host) || this.#table.findAtHost(host) !== undefined;
  }

  find(host: string): DeploymentRoute | undefined {
    if (!this.#isBelowDomain(host)) return this.#table.findAtHost(host);
    return this.#table.find(host.slice(0, -this.#suffix!.length));
  }

  #isBelowDomain(host: string): boolean {
    return this.#suffix !== undefined && host.endsWith(this.#suffix);
  }
}
