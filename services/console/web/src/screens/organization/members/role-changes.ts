import type { EnrichedMember } from '@runyard/contracts';

/** The roles of a member: in the organization, and in each workspace where they have one. */
export interface MemberRoles {
  organization: string;
  /** Roles by workspace; empty: none. */
  workspaces: Record<string, string>;
}

export interface RoleChanges {
  organization?: string;
  /** Workspaces with the new role; null: none any more. */
  workspaces: { workspaceId: string; roleId: string | null }[];
}

export function rolesOf({ role_id: organization, workspace_memberships: memberships }: EnrichedMember): MemberRoles {
  return { organization, workspaces: Object.fromEntries(memberships.map((each) => [each.workspace_id, each.role_id])) };
}

/** Returns what has to be asked of the platform so that `before` becomes `after`. */
export function roleChanges(before: MemberRoles, after: MemberRoles): RoleChanges {
  const ids = [...new Set([...Object.keys(before.workspaces), ...Object.keys(after.workspaces)])];
  return {
    ...(before.organization !== after.organization && { organization: after.organization }),
    workspaces: ids
      .map((workspaceId) => ({ workspaceId, roleId: after.workspaces[workspaceId] || null }))
      .filter(({ workspaceId, roleId }) => (before.workspaces[workspaceId] || null) !== roleId),
  };
}
