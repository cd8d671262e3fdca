import { decideOnDeployments, ForbiddenError, type InternalClient, type Principal } from '@runyard/service-kit';
import { deploymentNotFound } from '../revisions/deployment-errors.ts';

/** The permissions on deployments that policies allow and deny here; those of runs are in tokens for one deployment. */
export const ON_DEPLOYMENTS = [
  'deployments:read',
  'deployments:update',
  'deployments:delete',
  'deployments:halt',
] as const;

export type OnDeployments = (typeof ON_DEPLOYMENTS)[number];

/** Asks org-access for a caller's permissions on deployments after access policies. Only callers whom policies concern cost this. */
export class DeploymentPolicies {
  readonly #orgAccess: InternalClient;

  constructor(orgAccess: InternalClient) {
    this.#orgAccess = orgAccess;
  }

  /**
   * Returns the caller with the permissions on deployments that it has on all of these.
   *
   * @throws NotFoundError, as for a deployment that does not exist, when the caller may not see it; ForbiddenError when
   * the permission is missing; UnavailableError when org-access cannot be reached
   */
  async require(caller: Principal, deploymentIds: readonly string[], permission: OnDeployments): Promise<Principal> {
    const decided = await this.#decide(caller, deploymentIds);
    for (const id of deploymentIds) {
      const permissions = decided.get(id) ?? [];
      if (permissions.includes(permission)) continue;
      if (!permissions.includes('deployments:read')) throw deploymentNotFound(id);
      throw new ForbiddenError(`Access policies do not permit ${permission} on deployment ${id}`, {
        code: 'access_policy_denies',
      });
    }
    const onAll = ON_DEPLOYMENTS.filter((each) => deploymentIds.every((id) => decided.get(id)!.includes(each)));
    return withPermissions(caller, onAll);
  }

  /** Returns the caller, with its permissions on each, of the deployments that it may see. @throws UnavailableError */
  async listVisible(caller: Principal, deploymentIds: readonly string[]): Promise<Map<string, Principal>> {
    const visible = new Map<string, Principal>();
    for (const [id, permissions] of await this.#decide(caller, deploymentIds)) {
      if (permissions.includes('deployments:read')) visible.set(id, withPermissions(caller, permissions));
    }
    return visible;
  }

  #decide(caller: Principal, deploymentIds: readonly string[]): Promise<Map<string, string[]>> {
    return decideOnDeployments(this.#orgAccess, caller, { deploymentIds, permissions: ON_DEPLOYMENTS });
  }
}

function withPermissions(caller: Principal, onDeployments: readonly string[]): Principal {
  const others = caller.permissions.filter((each) => !(ON_DEPLOYMENTS as readonly string[]).includes(each));
  return { ...caller, permissions: [...others, ...onDeployments] };
}
