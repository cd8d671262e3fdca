import { ForbiddenError, type Principal } from '@runyard/service-kit';

/** Who registers providers decides where the people of an organization are sent, and who gets their tokens. */
export function mustManageOrganization(caller: Principal): void {
  if (!caller.permissions.includes('organization:manage')) {
    throw new ForbiddenError('You may not do this in the organization: organization:manage is missing');
  }
}

/**
 * The workspace a caller acts in, after checking that it may do this there.
 *
 * @throws ForbiddenError; clients look for the words `requires workspace specification` in it
 */
export function workspaceFor(caller: Principal, permission?: AgentPermission): string {
  if (!caller.workspaceId) {
    throw new ForbiddenError('This key of the whole organization requires workspace specification: send X-Tenant-Id');
  }
  if (permission && !caller.permissions.includes(permission)) {
    throw new ForbiddenError(`You may not do this in the workspace: ${permission} is missing`);
  }
  return caller.workspaceId;
}

/** `runs:create`: who may run the agents of a workspace may use what was connected to them, and connect to them. */
export type AgentPermission = 'runs:create' | 'deployments:read' | 'deployments:update';

export function mayIn(caller: Principal, permission: AgentPermission): boolean {
  return caller.workspaceId !== undefined && caller.permissions.includes(permission);
}
