/** Ids of the roles that every organization has; the first migration creates the rows. */
export const PLATFORM_ROLES = {
  organizationAdmin: '5a7d6f2e-0000-4000-8000-000000000001',
  organizationOperator: '5a7d6f2e-0000-4000-8000-000000000004',
  organizationUser: '5a7d6f2e-0000-4000-8000-000000000002',
  organizationViewer: '5a7d6f2e-0000-4000-8000-000000000003',
  workspaceAdmin: '5a7d6f2e-0000-4000-8000-000000000011',
  workspaceEditor: '5a7d6f2e-0000-4000-8000-000000000012',
  workspaceUser: '5a7d6f2e-0000-4000-8000-000000000013',
  workspaceViewer: '5a7d6f2e-0000-4000-8000-000000000014',
} as const;

export type OrganizationRoleName = 'admin' | 'operator' | 'user' | 'viewer';

/** The roles of an organization from the most powerful to the least. */
export const ORGANIZATION_ROLES: readonly { id: string; name: OrganizationRoleName }[] = [
  { id: PLATFORM_ROLES.organizationAdmin, name: 'admin' },
  { id: PLATFORM_ROLES.organizationOperator, name: 'operator' },
  { id: PLATFORM_ROLES.organizationUser, name: 'user' },
  { id: PLATFORM_ROLES.organizationViewer, name: 'viewer' },
];

/** Returns the name of an organization role; an unknown one counts as the least powerful. */
export function organizationRoleName(roleId: string): OrganizationRoleName {
  return ORGANIZATION_ROLES.find(({ id }) => id === roleId)?.name ?? 'viewer';
}

/** Compares the power of organization roles: 0 for the most powerful. */
export function rankOfOrganizationRole(roleId: string): number {
  const index = ORGANIZATION_ROLES.findIndex(({ id }) => id === roleId);
  return index < 0 ? ORGANIZATION_ROLES.length : index;
}

/** The name of every custom role, as on other platforms: clients expect that a new display name changes no name. */
export const CUSTOM_ROLE_NAME = 'CUSTOM';

/** Returns the name of a role for programs. Earlier releases store the display name of custom roles as their name. */
export function roleNameOf({ organizationId, name }: { organizationId: string | null; name: string }): string {
  return organizationId === null ? name : CUSTOM_ROLE_NAME;
}
