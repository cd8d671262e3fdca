import { DeploymentCount, type DeploymentCountRequest } from '@runyard/contracts';
import type { InternalClient, Logger, Tenant } from '@runyard/service-kit';

/** Asks control-plane how many deployments workspaces have. */
export class DeploymentCounts {
  readonly #controlPlane: InternalClient | null;
  readonly #logger: Logger;

  /** @param options.controlPlane null: there is none to ask */
  constructor(options: { controlPlane: InternalClient | null; logger: Logger }) {
    this.#controlPlane = options.controlPlane;
    this.#logger = options.logger;
  }

  /** Returns null when control-plane does not answer: the other numbers of a workspace do not depend on it. */
  async count({ organizationId, workspaceId }: Tenant): Promise<number | null> {
    if (this.#controlPlane === null) return null;
    const question: DeploymentCountRequest = { organization_id: organizationId, workspace_id: workspaceId };
    try {
      return (await this.#controlPlane.ask('/internal/deployments/count', question, DeploymentCount)).count;
    } catch (error) {
      this.#logger.warn('deployments could not be counted', { workspaceId, error });
      return null;
    }
  }
}
