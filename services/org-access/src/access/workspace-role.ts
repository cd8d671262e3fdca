import { PLATFORM_ROLES } from './platform-roles.ts';

/** The reason why an identity has its role in a workspace. */
export type WorkspaceRoleOrigin =
  /** Administrators of the organization administer every workspace. */
  | 'organization_administrator'
  | 'membership'
  /** The role of a service account in all workspaces. */
  | 'everywhere';

/** Decides which of its roles an identity has in a workspace; null when it does not reach the workspace. */
export function decideWorkspaceRole<Role>(identity: {
  organizationRoleId: string;
  membership: Role | null | undefined;
  everywhere: Role | null;
  /** The role of administrators; needed for identities that are one. */
  administrator: Role | null;
}): { role: Role; via: WorkspaceRoleOrigin } | null {
  const { organizationRoleId, membership, everywhere, administrator } = identity;
  if (organizationRoleId === PLATFORM_ROLES.organizationAdmin && administrator)
    return { role: administrator, via: 'organization_administrator' };
  if (membership) return { role: membership, via: 'membership' };
  return everywhere && { role: everywhere, via: 'everywhere' };
}
