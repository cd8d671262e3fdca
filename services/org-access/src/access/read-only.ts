import type { Principal } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import { type Access, accessOf } from './access.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

/** Limits permissions to reading, for `read_only` keys, whatever their roles. */
export function restrictToReading(access: Access): Access {
  return {
    ...access,
    // Organization administrators manage all keys, whatever their permissions.
    organizationRoleId: PLATFORM_ROLES.organizationViewer,
    organization: access.organization.filter(isReadPermission),
    workspace: access.workspace?.filter(isReadPermission) ?? null,
  };
}

/** Reads the current permissions of a caller in a workspace, which may differ from that of its token. */
export async function accessOfCaller(queries: Queries, caller: Principal, workspaceId: string): Promise<Access | null> {
  const { organizationId, identity: identityId } = caller;
  const access = await accessOf(queries, { organizationId, identityId, workspaceId });
  return access && caller.isReadOnly ? restrictToReading(access) : access;
}

/** Returns whether a permission lets its holder see things, and change nothing. */
export function isReadPermission(permission: string): boolean {
  return permission.endsWith(':read');
}
