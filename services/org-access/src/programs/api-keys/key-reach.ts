import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { ORGANIZATION_ROLES, PLATFORM_ROLES, rankOfOrganizationRole } from '../../access/platform-roles.ts';

/** Returns the requested role, or by default that of a user, limited to the caller's own. @throws ForbiddenError */
export function requireGrantableRole(caller: Principal, asked: string | undefined): string {
  const rankOfCaller = rankOf(caller);
  if (!asked)
    return rankOfOrganizationRole(PLATFORM_ROLES.organizationUser) >= rankOfCaller
      ? PLATFORM_ROLES.organizationUser
      : PLATFORM_ROLES.organizationViewer;
  requireNotAboveOwn(caller, asked);
  return asked;
}

function requireNotAboveOwn(caller: Principal, organizationRoleId: string): void {
  if (isAboveOwn(caller, organizationRoleId))
    throw new ForbiddenError('You may not give a higher organization role than your own', { code: 'role_above_own' });
}

/** Checks that the caller may change a service account with this organization role, and its keys. @throws ForbiddenError */
export function requireAuthorityOverAccount(caller: Principal, organizationRoleId: string): void {
  if (isAboveOwn(caller, organizationRoleId))
    throw new ForbiddenError('The service account has a higher organization role than yours', {
      code: 'role_above_own',
    });
}

function isAboveOwn(caller: Principal, organizationRoleId: string): boolean {
  return rankOfOrganizationRole(organizationRoleId) < rankOf(caller);
}

function rankOf(caller: Principal): number {
  const own = ORGANIZATION_ROLES.find(({ name }) => name === caller.organizationRole)?.id;
  return rankOfOrganizationRole(own ?? PLATFORM_ROLES.organizationViewer);
}

export function defaultWorkspaceRole(readOnly: boolean | undefined): string {
  return readOnly ? PLATFORM_ROLES.workspaceViewer : PLATFORM_ROLES.workspaceAdmin;
}

/** The roles of a service account that decide where it works. */
export interface ReachingAccount {
  organizationRoleId: string;
  everywhereRoleId: string | null;
  members: { workspaceId: string }[];
}

/** Returns whether an account works only in these workspaces. */
export function worksOnlyIn(account: ReachingAccount, workspaceIds: ReadonlySet<string>): boolean {
  const { members, everywhereRoleId, organizationRoleId } = account;
  return (
    everywhereRoleId === null &&
    organizationRoleId !== PLATFORM_ROLES.organizationAdmin &&
    members.length > 0 &&
    members.every((member) => workspaceIds.has(member.workspaceId))
  );
}
