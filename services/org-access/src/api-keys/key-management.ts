import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { accessOfCaller } from '../access/read-only.ts';
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

/** Returns those accounts, or keys with their accounts, that the caller manages; others look as if they did not exist. */
export async function filterManageable<Item>(
  queries: Queries,
  caller: Principal,
  items: readonly Item[],
  accountOf: (item: Item) => ReachingAccount,
): Promise<Item[]> {
  if (caller.organizationRole === 'admin') return [...items];
  const candidates = new Set(items.flatMap((item) => accountOf(item).members.map((member) => member.workspaceId)));
  const manageable = new Set<string>();
  for (const workspaceId of candidates) {
    if (await managesKeysIn(queries, caller, workspaceId)) manageable.add(workspaceId);
  }
  return items.filter((item) => worksOnlyIn(accountOf(item), manageable));
}

async function managesKeysIn(queries: Queries, caller: Principal, workspaceId: string): Promise<boolean> {
  const access = await accessOfCaller(queries, caller, workspaceId);
  return access?.workspace?.includes('workspaces:manage-keys') ?? false;
}
