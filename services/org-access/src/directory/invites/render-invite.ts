import type { PendingMember } from '@runyard/contracts';
import type { GrantableRoles } from '../../access/role-authority.ts';
import type { InviteWithWorkspaces } from './claim-invite.ts';

export function renderInvite(invite: InviteWithWorkspaces, roles: GrantableRoles): PendingMember {
  const role = { id: invite.organizationRoleId, name: roles.get(invite.organizationRoleId)?.displayName ?? '' };
  const workspaceIds = invite.workspaces.map(({ workspaceId }) => workspaceId);
  const workspaceRoles = new Set(invite.workspaces.map(({ roleId }) => roleId));
  const [workspaceRole = null] = workspaceRoles.size === 1 ? workspaceRoles : [];
  return {
    id: invite.id,
    organization_id: invite.organizationId,
    tenant_id: null,
    access_scope: 'organization',
    created_at: invite.createdAt.toISOString(),
    expires_at: invite.expiresAt.toISOString(),
    email: invite.email,
    full_name: invite.fullName,
    read_only: false,
    role_id: role.id,
    role_name: role.name,
    org_role_id: role.id,
    org_role_name: role.name,
    workspace_ids: workspaceIds,
    tenant_ids: workspaceIds,
    workspace_role_id: workspaceRole,
  };
}
