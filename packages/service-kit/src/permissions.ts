import type { OperationAccess, Permission, PermissionRefusal } from '@runyard/contracts';
import { type AppError, ForbiddenError, NotFoundError } from './errors.ts';
import type { BoundOperation } from './http/bind.ts';
import type { Principal } from './principal.ts';

/** The workspace, with its organization, that a request acts in. */
export interface Tenant {
  organizationId: string;
  workspaceId: string;
}

/** Returns the workspace that the caller acts in. @throws ForbiddenError, NotFoundError when it acts in none */
export function tenantOf(caller: Principal): Tenant {
  const { organizationId, workspaceId } = caller;
  if (!workspaceId) throw workspaceMissing(caller);
  return { organizationId, workspaceId };
}

/** Middleware: only callers that may do what an operation declares get to its handler. */
export function requireOperationPermission({ operation, handler }: BoundOperation): BoundOperation {
  return {
    operation,
    handler: async (request) => {
      authorize(request.caller, operation);
      return handler(request);
    },
  };
}

/** Checks what an operation declares of its callers. @throws ForbiddenError, NotFoundError */
export function authorize(caller: Principal, { access, permission, plan, refusal }: OperationAccess): void {
  if (access !== 'principal') return;
  if (permission === 'signed-in person') {
    if (caller.kind !== 'session') throw new ForbiddenError('This requires a session', { code: 'session_required' });
    return;
  }
  if (caller.kind === 'session' && caller.organizationId === '') {
    throw new ForbiddenError('Choose an organization: send X-Organization-Id', { code: 'organization_required' });
  }
  if (permission === 'any key') return;
  if (permission === 'any key that writes') {
    if (caller.isReadOnly) throw new ForbiddenError('This key only reads', { code: 'key_read_only' });
  } else if (typeof permission === 'string' || !('checkedByService' in permission)) {
    const sufficient = [permission].flat();
    if (!sufficient.some((each) => hasPermission(caller, each))) {
      throw permissionMissing(caller, sufficient[0]!, refusal);
    }
  }
  if (plan === 'plus' && caller.plan === 'developer') {
    // Clients search the text for the words `not enabled`.
    throw new ForbiddenError('Deployments are not enabled for this organization: its plan is below Plus', {
      code: 'plan_required',
    });
  }
}

export function hasPermission({ permissions }: Pick<Principal, 'permissions'>, permission: Permission): boolean {
  return permissions.includes(permission);
}

/**
 * Checks a permission that depends on the request or the resource, in addition to the declared one.
 *
 * @throws ForbiddenError, NotFoundError
 */
export function requirePermission(caller: Principal, permission: Permission): void {
  if (!hasPermission(caller, permission)) throw permissionMissing(caller, permission);
}

function permissionMissing(caller: Principal, permission: Permission, refusal?: PermissionRefusal): AppError {
  const place = permission.startsWith('organization:') ? 'organization' : 'workspace';
  if (place === 'workspace' && !caller.workspaceId) return workspaceMissing(caller);
  const detail = refusal?.detail ?? `You may not do this in the ${place}: ${permission} is missing`;
  return new ForbiddenError(detail, { code: refusal?.code ?? 'permission_missing' });
}

function workspaceMissing({ isWorkspaceDeleted }: Principal): AppError {
  if (isWorkspaceDeleted) return new NotFoundError('Workspace not found', { code: 'workspace_deleted' });
  // Clients search the text for the words `requires workspace specification`.
  return new ForbiddenError('This key of the whole organization requires workspace specification: send X-Tenant-Id', {
    code: 'workspace_required',
  });
}
