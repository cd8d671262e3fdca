import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { ORGANIZATION_ROLES, PLATFORM_ROLES, rankOfOrganizationRole } from '../access/platform-roles.ts';
import type { StoredKey } from './api-key-store.ts';

/** Returns the requested role, or by default that of a user, limited to the caller's own. @throws ForbiddenError */
export function requireGrantableRole(caller: Principal, asked: string | undefined): string {
  const own =
    ORGANIZATION_ROLES.find(({ name }) => name === caller.organizationRole)?.id ?? PLATFORM_ROLES.organizationViewer;
  const rankOfCaller = rankOfOrganizationRole(own);
  if (!asked)
    return rankOfOrganizationRole(PLATFORM_ROLES.organizationUser) >= rankOfCaller
      ? PLATFORM_ROLES.organizationUser
      : PLATFORM_ROLES.organizationViewer;
  if (rankOfOrganizationRole(asked) < rankOfCaller)
    throw new ForbiddenError('You may not give a higher organization role than your own', { code: 'role_above_own' });
  return asked;
}

export function defaultWorkspaceRole(readOnly: boolean | undefined): string {
  return readOnly ? PLATFORM_ROLES.workspaceViewer : PLATFORM_ROLES.workspaceAdmin;
}

/** Returns whether a key works only in these workspaces. */
export function worksOnlyIn(key: StoredKey, workspaceIds: ReadonlySet<string>): boolean {
  const { members, everywhereRoleId, organizationRoleId } = key.identity;
  return (
    everywhereRoleId === null &&
    organizationRoleId !== PLATFORM_ROLES.organizationAdmin &&
    members.length > 0 &&
    members.every((member) => workspaceIds.has(member.workspaceId))
  );
}
