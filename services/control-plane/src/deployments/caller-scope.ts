import { ForbiddenError, type Principal } from '@runyard/service-kit';

/** The workspace, with its organization, that a request acts in. */
export interface Tenant {
  organizationId: string;
  workspaceId: string;
}

export type DeploymentPermission =
  | 'deployments:create'
  | 'deployments:read'
  | 'deployments:update'
  | 'deployments:delete';

/**
 * Returns the workspace of the caller after checking its permission there.
 *
 * @throws ForbiddenError; clients search it for the words `requires workspace specification` and `not enabled`
 */
export function tenantOf(caller: Principal, permission: DeploymentPermission): Tenant {
  if (!caller.workspaceId) {
    throw new ForbiddenError('This key of the whole organization requires workspace specification: send X-Tenant-Id', {
      code: 'workspace_required',
    });
  }
  if (!caller.permissions.includes(permission)) {
    throw new ForbiddenError(`You may not do this in the workspace: ${permission} is missing`, {
      code: 'permission_missing',
    });
  }
  if (permission === 'deployments:create' && caller.plan === 'developer') {
    throw new ForbiddenError('Deployments are not enabled for this organization: its plan is below Plus', {
      code: 'plan_required',
    });
  }
  return { organizationId: caller.organizationId, workspaceId: caller.workspaceId };
}
