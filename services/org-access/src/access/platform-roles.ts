/** Ids of the roles that every organization has; the first migration creates the rows. */
export const PLATFORM_ROLES = {
  organizationAdmin: '5a7d6f2e-0000-4000-8000-000000000001',
  organizationUser: '5a7d6f2e-0000-4000-8000-000000000002',
  organizationViewer: '5a7d6f2e-0000-4000-8000-000000000003',
  workspaceAdmin: '5a7d6f2e-0000-4000-8000-000000000011',
  workspaceEditor: '5a7d6f2e-0000-4000-8000-000000000012',
  workspaceUser: '5a7d6f2e-0000-4000-8000-000000000013',
  workspaceViewer: '5a7d6f2e-0000-4000-8000-000000000014',
} as const;

export type OrganizationRoleName = 'admin' | 'user' | 'viewer';

export function organizationRoleName(roleId: string): OrganizationRoleName {
  if (roleId === PLATFORM_ROLES.organizationAdmin) return 'admin';
  return roleId === PLATFORM_ROLES.organizationUser ? 'user' : 'viewer';
}
