import {
  DeploymentCount,
  type DeploymentCountRequest,
  INTERNAL_AUTHORIZATION_SCHEME,
  validatorOf,
} from '@runyard/contracts';
import type { Logger, Tenant } from '@runyard/service-kit';

/** control-plane answers within milliseconds or not at all. */
const TIMEOUT_MS = 2_000;

/** Asks control-plane how many deployments workspaces have. */
export class DeploymentCounts {
  readonly #url: URL | null;
  readonly #token: string;
  readonly #logger: Logger;

  /** @param options.controlPlaneUrl undefined: there is none to ask */
  constructor(options: { controlPlaneUrl: string | undefined; internalToken: string; logger: Logger }) {
    const base = options.controlPlaneUrl?.replace(/\/+$/, '');
    this.#url = base ? new URL(`${base}/internal/deployments/count`) : null;
    this.#token = options.internalToken;
    this.#logger = options.logger;
  }

  /** Returns null when control-plane does not answer: the other numbers of a workspace do not depend on it. */
  async count({ organizationId, workspaceId }: Tenant): Promise<number | null> {
    if (this.#url === null) return null;
    const question: DeploymentCountRequest = { organization_id: organizationId, workspace_id: workspaceId };
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: {
          authorization: `${INTERNAL_AUTHORIZATION_SCHEME} ${this.#token}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify(question),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const answer = validatorOf(DeploymentCount)(await response.json());
      if (!response.ok || !answer.ok) throw new Error(`control-plane answers ${response.status}`);
      return answer.value.count;
    } catch (error) {
      this.#logger.warn('deployments could not be counted', { workspaceId, error });
      return null;
    }
  }
}
