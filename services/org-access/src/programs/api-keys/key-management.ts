import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { readTagsIn } from '../../access/effective-policies.ts';
import { concernType, permissionsAfterPolicies } from '../../access/policy-decision.ts';
import { listReachableWorkspaces } from '../../access/reachable-workspaces.ts';
import { accessOfCaller } from '../../access/read-only.ts';
import { readGrantableRoles, requireWorkspaceAuthority } from '../../access/role-authority.ts';
import type { Queries } from '../../database/database.ts';
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

/**
 * Returns those accounts, or keys with their accounts, that the caller manages in each of their workspaces; others look as
 * if they did not exist. The number of queries does not grow with them.
 *
 * @param keyIdOf for keys, about whose tags access policies may decide
 */
export async function filterManageable<Item>(
  queries: Queries,
  caller: Principal,
  items: readonly Item[],
  accountOf: (item: Item) => ReachingAccount,
  keyIdOf?: (item: Item) => string,
): Promise<Item[]> {
  if (caller.organizationRole === 'admin') return [...items];
  if (caller.isReadOnly) return [];
  const { organizationId, identity: identityId } = caller;
  const reachable = await listReachableWorkspaces(queries, { organizationId, identityId });
  const byId = new Map(reachable.map((each) => [each.workspace.id, each]));
  const reached = new Set(byId.keys());
  const candidates = items.filter((item) => worksOnlyIn(accountOf(item), reached));
  const withPolicies = reachable.filter(({ policies }) => keyIdOf && concernType(policies, resourceType));
  const tags = await readTagsIn(
    queries,
    { organizationId, workspaceIds: withPolicies.map(({ workspace }) => workspace.id) },
    resourceType,
    keyIdOf ? candidates.map(keyIdOf) : [],
  );
  return candidates.filter((item) =>
    accountOf(item).members.every(({ workspaceId }) => {
      const { permissions, policies } = byId.get(workspaceId)!;
      const own = keyIdOf && tags(workspaceId, keyIdOf(item));
      const left = own ? permissionsAfterPolicies(policies, { resourceType, tags: own }, permissions) : permissions;
      return left.includes('workspaces:manage-keys');
    }),
  );
}

const resourceType = 'service_key';

async function managesKeysIn(queries: Queries, caller: Principal, workspaceId: string): Promise<boolean> {
  const access = await accessOfCaller(queries, caller, workspaceId);
  return access?.workspace?.includes('workspaces:manage-keys') ?? false;
}
