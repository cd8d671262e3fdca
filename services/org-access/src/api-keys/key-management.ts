import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { listReachableWorkspaces } from '../access/reachable-workspaces.ts';
import { accessOfCaller } from '../access/read-only.ts';
import { readGrantableRoles, requireWorkspaceAuthority } from '../access/role-authority.ts';
import type { Queries } from '../database/database.ts';
import { type ReachingAccount, worksOnlyIn } from './key-reach.ts';
import { requireWorkspace } from './service-accounts.ts';

/**
 * Checks that the caller manages keys in all these workspaces; null stands for the whole organization.
 *
 * @throws ForbiddenError, and InvalidFieldError for a workspace that does not exist
 */
export async function requireKeyManagement(
  queries: Queries,
  caller: Principal,
  workspaceIds: readonly string[] | null,
): Promise<void> {
  if (caller.organizationRole === 'admin') {
    for (const id of workspaceIds ?? []) await requireWorkspace(queries, caller.organizationId, id, 'workspaces');
    return;
  }
  if (!workspaceIds)
    throw new ForbiddenError('Only organization administrators manage keys of the whole organization', {
      code: 'organization_admin_required',
    });
  for (const workspaceId of workspaceIds) {
    if (!(await managesKeysIn(queries, caller, workspaceId))) {
      throw new ForbiddenError(`You may not manage keys in workspace ${workspaceId}`, {
        code: 'key_management_forbidden',
      });
    }
  }
}

/**
 * Checks that the caller has every permission of the roles with which a key works: who manages keys would otherwise make
 * one that may do more. Roles that do not exist are left out.
 *
 * @throws ForbiddenError
 */
export async function requireOwnPermissions(
  queries: Queries,
  caller: Principal,
  places: readonly { workspaceId: string; roleId: string }[],
): Promise<void> {
  if (caller.organizationRole === 'admin') return;
  const roles = await readGrantableRoles(queries, caller.organizationId);
  const grants = places.flatMap(({ workspaceId, roleId }) => {
    const role = roles.get(roleId);
    return role ? [{ workspaceId, role }] : [];
  });
  await requireWorkspaceAuthority(queries, caller, grants, 'workspaces:manage-keys');
}

/** Returns those accounts, or keys with their accounts, that the caller manages; others look as if they did not exist. */
export async function filterManageable<Item>(
  queries: Queries,
  caller: Principal,
  items: readonly Item[],
  accountOf: (item: Item) => ReachingAccount,
): Promise<Item[]> {
  if (caller.organizationRole === 'admin') return [...items];
  const manageable = await listManagedWorkspaces(queries, caller);
  return items.filter((item) => worksOnlyIn(accountOf(item), manageable));
}

/** Returns the workspaces where the caller manages keys, in few queries however many they are. */
async function listManagedWorkspaces(queries: Queries, caller: Principal): Promise<Set<string>> {
  if (caller.isReadOnly) return new Set();
  const { organizationId, identity: identityId } = caller;
  const reachable = await listReachableWorkspaces(queries, { organizationId, identityId });
  const managed = reachable.filter(({ role }) => role?.permissions.includes('workspaces:manage-keys'));
  return new Set(managed.map(({ workspace }) => workspace.id));
}

async function managesKeysIn(queries: Queries, caller: Principal, workspaceId: string): Promise<boolean> {
  const access = await accessOfCaller(queries, caller, workspaceId);
  return access?.workspace?.includes('workspaces:manage-keys') ?? false;
}
