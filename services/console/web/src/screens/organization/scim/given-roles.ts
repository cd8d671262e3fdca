import type { ProvisionedGroup, ProvisionedUser } from '@runyard/contracts';

/** Returns the roles that a group gives, in words; null where its name says nothing. */
export function rolesOfGroup({ roles }: Pick<ProvisionedGroup, 'roles'>): string | null {
  if (roles.length === 0) return null;
  return roles
    .map(({ role_name: role, workspace_name: workspace }) => (workspace === null ? role : `${role} in ${workspace}`))
    .join(', ');
}

/** Returns the roles that a user has, in words. */
export function rolesOfUser({
  role_name: role,
  workspaces,
}: Pick<ProvisionedUser, 'role_name' | 'workspaces'>): string {
  return [role, ...workspaces.map((each) => `${each.role_name} in ${each.workspace_name}`)].join(', ');
}

/** Returns the sentence about a user who may do nothing; undefined for others. */
export function disablement({
  is_active: isActive,
  is_disabled: isDisabled,
}: Pick<ProvisionedUser, 'is_active' | 'is_disabled'>): string | undefined {
  if (!isActive) return 'switched off by the identity provider';
  return isDisabled ? 'disabled by an administrator' : undefined;
}
