import type { Principal } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import { type Access, accessOf } from './access.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

/** Bounds what an identity may do to what it may read: the access of a `read_only` key, whatever its roles. */
export function readingAccess(access: Access): Access {
  return {
    ...access,
    // Services let organization administrators do everything, whatever their permissions.
    organizationRoleId: PLATFORM_ROLES.organizationViewer,
    organization: access.organization.filter(isReading),
    workspace: access.workspace?.filter(isReading) ?? null,
  };
}

/** Reads the access of a caller anew, for a workspace that need not be the one of its token. */
export async function accessOfCaller(queries: Queries, caller: Principal, workspaceId: string): Promise<Access | null> {
  const { organizationId, identity: identityId } = caller;
  const access = await accessOf(queries, { organizationId, identityId, workspaceId });
  return access && caller.isReadOnly ? readingAccess(access) : access;
}

function isReading(permission: string): boolean {
  return permission.endsWith(':read');
}
