import { PUBLIC_SERVICES } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Access } from './access.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

/** Services of which an administrator asks about resources of any workspace. Deployments are for callers in theirs. */
const PLATFORM_AUDIENCES: ReadonlySet<string> = new Set(PUBLIC_SERVICES);

/**
 * Returns whether the workspace that a caller names was deleted, for administrators of its organization: programs that
 * delete it again have to learn that. To everybody else it looks like one of others.
 */
export async function isKnownToBeDeleted(
  queries: Queries,
  { organizationRoleId }: Access,
  { organizationId, workspaceId, audience }: { organizationId: string; workspaceId: string; audience: string },
): Promise<boolean> {
  if (organizationRoleId !== PLATFORM_ROLES.organizationAdmin || !PLATFORM_AUDIENCES.has(audience)) return false;
  const deleted = await queries.workspace.findFirst({
    where: { organizationId, id: workspaceId, deletedAt: { not: null } },
    select: { id: true },
  });
  return deleted !== null;
}
