import type { WorkspacePermission } from '@runyard/contracts';
import { type BoundOperation, ForbiddenError, type Principal } from '@runyard/service-kit';

/** Restricts the operation to callers whose role permits it; administrators of the organization may do all. */
export function requireOperationPermission({ operation, handler }: BoundOperation): BoundOperation {
  const { access, permission, operationId } = operation;
  if (access !== 'principal') return { operation, handler };
  if (!permission) throw new Error(`${operationId} names no permission`);
  return {
    operation,
    handler: async (request) => {
      requirePermission(request.caller, permission);
      return handler(request);
    },
  };
}

/** Checks a permission that an operation needs beyond its own. @throws ForbiddenError */
export function requirePermission(caller: Principal, permission: WorkspacePermission): void {
  if (hasPermission(caller, permission)) return;
  throw new ForbiddenError(`You may not do this in the workspace: ${permission} is missing`, {
    code: 'permission_missing',
  });
}

export function hasPermission({ organizationRole, permissions }: Principal, permission: WorkspacePermission): boolean {
  return organizationRole === 'admin' || permissions.includes(permission);
}
