import { ForbiddenError, type Principal } from '@runyard/service-kit';

/**
 * Requires the permission to manage providers: they decide where an organization's users are sent, and who gets their
 * tokens.
 */
export function mustManageOrganization(caller: Principal): void {
  if (!caller.permissions.includes('organization:manage')) {
    throw new ForbiddenError('You may not do this in the organization: organization:manage is missing', {
      code: 'permission_missing',
    });
  }
}

/**
 * Returns the workspace of the caller after checking its permission there.
 *
 * @throws ForbiddenError; clients search it for the words `requires workspace specification`
 */
export function workspaceFor(caller: Principal, permission?: AgentPermission): string {
  if (!caller.workspaceId) {
    throw new ForbiddenError('This key of the whole organization requires workspace specification: send X-Tenant-Id', {
      code: 'workspace_required',
    });
  }
  if (permission && !caller.permissions.includes(permission)) {
    throw new ForbiddenError(`You may not do this in the workspace: ${permission} is missing`, {
      code: 'permission_missing',
    });
  }
  return caller.workspaceId;
}

/** `runs:create`: whoever may run a workspace's agents may connect to them, and use their connections. */
export type AgentPermission = 'runs:create' | 'deployments:read' | 'deployments:update';

export function mayIn(caller: Principal, permission: AgentPermission): boolean {
  return caller.workspaceId !== undefined && caller.permissions.includes(permission);
}
