import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { PLATFORM_ROLES } from '../access/platform-roles.ts';
import type { StoredKey } from './api-key-store.ts';

const RANK: Record<string, number> = {
  [PLATFORM_ROLES.organizationAdmin]: 3,
  [PLATFORM_ROLES.organizationUser]: 2,
  [PLATFORM_ROLES.organizationViewer]: 1,
};

/** Returns the requested role, or by default that of a user, limited to the caller's own. @throws ForbiddenError */
export function requireGrantableRole(caller: Principal, asked: string | undefined): string {
  const rankOfCaller = { admin: 3, user: 2, viewer: 1 }[caller.organizationRole ?? 'viewer'];
  if (!asked) return rankOfCaller >= 2 ? PLATFORM_ROLES.organizationUser : PLATFORM_ROLES.organizationViewer;
  if ((RANK[asked] ?? 0) > rankOfCaller)
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
