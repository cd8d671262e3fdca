import type { WorkspacePermission } from '@runyard/contracts';
import {
  decideOnDeployments,
  type InternalClient,
  type Middleware,
  type Principal,
  requireOperationPermission,
  type Tenant,
  tenantOf,
} from '@runyard/service-kit';

const PERMISSION: WorkspacePermission = 'runs:read';

interface Dependencies {
  deployments: { listOfTenant(tenant: Tenant): Promise<string[]> };
  orgAccess: Pick<InternalClient, 'ask'>;
}

/** The runs that a caller may see: those of a workspace, on all of its deployments or on some. */
export interface RunScope extends Tenant {
  /** Undefined: all deployments of the workspace. */
  deploymentIds: string[] | undefined;
}

/** Finds the deployments whose runs a caller may see: access policies may deny some, or permit some alone. */
export class VisibleDeployments {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** @throws ForbiddenError, NotFoundError for a caller in no workspace; UnavailableError */
  async scopeOf(caller: Principal): Promise<RunScope> {
    const tenant = tenantOf(caller);
    if (!caller.isBoundedByPolicies) return { ...tenant, deploymentIds: undefined };
    const all = await this.#dependencies.deployments.listOfTenant(tenant);
    return { ...tenant, deploymentIds: await this.filter(caller, all) };
  }

  /**
   * Returns those deployments, all of the caller's workspace, whose runs the caller may see now.
   *
   * @throws UnavailableError
   */
  async filter(caller: Principal, deploymentIds: string[]): Promise<string[]> {
    if (!caller.isBoundedByPolicies) return deploymentIds;
    const question = { deploymentIds, permissions: [PERMISSION] };
    const decided = await decideOnDeployments(this.#dependencies.orgAccess, caller, question);
    return [...decided].filter(([, each]) => each.length > 0).map(([id]) => id);
  }
}

/**
 * Middleware: only callers who may see runs get to a handler. One whose roles lack the permission gets there when a
 * policy permits it on some deployments, and sees the runs of those.
 */
export const requireRunPermission: Middleware = (bound) => {
  const authorized = requireOperationPermission(bound);
  return {
    ...bound,
    handler: (request) => {
      const { isBoundedByPolicies, permissionsByPolicy } = request.caller;
      const isPermittedByPolicy = isBoundedByPolicies && permissionsByPolicy?.includes(PERMISSION);
      return (isPermittedByPolicy ? bound : authorized).handler(request);
    },
  };
};
