import { type AccessDecisionRequest, AccessDecisions } from '@runyard/contracts';
import { ForbiddenError, NotFoundError, type Principal, tenantOf, UnavailableError } from '@runyard/service-kit';
import type { OrgAccessClient } from './org-access-client.ts';

/** Deployments of one question. */
const BATCH = 5_000;

/** Asks org-access what access policies leave a caller on deployments. Only callers whom policies concern cost this. */
export class DeploymentPolicies {
  readonly #orgAccess: OrgAccessClient;

  constructor(orgAccess: OrgAccessClient) {
    this.#orgAccess = orgAccess;
  }

  /**
   * @throws NotFoundError, as for a deployment that does not exist, when the caller may not see it; ForbiddenError when
   * the permission is missing; UnavailableError when org-access cannot be reached
   */
  async require(caller: Principal, deploymentIds: readonly string[], permission: string): Promise<void> {
    const left = await this.#decide(caller, deploymentIds, [...new Set([permission, 'deployments:read'])]);
    for (const id of deploymentIds) {
      const permissions = left.get(id) ?? [];
      if (permissions.includes(permission)) continue;
      if (!permissions.includes('deployments:read'))
        throw new NotFoundError(`Deployment ID ${id} not found.`, { code: 'deployment_not_found' });
      throw new ForbiddenError(`An access policy excludes ${permission} on deployment ${id}`, {
        code: 'access_policy_denies',
      });
    }
  }

  /** Returns those of the deployments that the caller may see. @throws UnavailableError */
  async filterVisible(caller: Principal, deploymentIds: readonly string[]): Promise<string[]> {
    const visible: string[] = [];
    for (let start = 0; start < deploymentIds.length; start += BATCH) {
      const left = await this.#decide(caller, deploymentIds.slice(start, start + BATCH), ['deployments:read']);
      visible.push(...left.keys());
    }
    return visible;
  }

  async #decide(
    caller: Principal,
    deploymentIds: readonly string[],
    permissions: string[],
  ): Promise<Map<string, string[]>> {
    const { organizationId, workspaceId } = tenantOf(caller);
    const question: AccessDecisionRequest = {
      organization_id: organizationId,
      workspace_id: workspaceId,
      identity_id: caller.identity,
      permissions,
      deployment_ids: [...deploymentIds],
    };
    try {
      const { decisions } = await this.#orgAccess.ask('/internal/access/decide', question, AccessDecisions);
      return new Map(decisions.map(({ deployment_id, permissions: left }) => [deployment_id, left]));
    } catch (cause) {
      throw new UnavailableError('Access policies cannot be read at the moment', {
        code: 'access_policies_unavailable',
        cause,
      });
    }
  }
}
