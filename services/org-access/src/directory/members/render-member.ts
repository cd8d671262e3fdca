import type { LinkedLoginMethod, OrgMember } from '@runyard/contracts';
import type { Login } from '../../generated/client.ts';
import type { StoredMember } from './member-store.ts';

export function renderMember(member: StoredMember): OrgMember {
  const { person, organizationRole } = member;
  const role = { id: member.organizationRoleId, name: organizationRole.displayName };
  return {
    id: member.id,
    organization_id: member.organizationId,
    tenant_id: null,
    access_scope: 'organization',
    created_at: member.createdAt.toISOString(),
    email: person.email,
    full_name: person.fullName,
    display_name: person.fullName ?? person.email,
    avatar_url: person.avatarUrl,
    user_id: person.logins[0]?.id ?? null,
    ls_user_id: person.id,
    linked_login_methods: person.logins.map(renderLogin),
    is_disabled: member.disabledAt !== null,
    read_only: false,
    role_id: role.id,
    role_name: role.name,
    org_role_id: role.id,
    org_role_name: role.name,
    tenant_ids: member.members.map(({ workspaceId }) => workspaceId),
  };
}

export function renderLogin({ id, provider, email, provisioning, createdAt }: Login): LinkedLoginMethod {
  return { id, provider, email, provisioning, created_at: createdAt.toISOString() };
}
