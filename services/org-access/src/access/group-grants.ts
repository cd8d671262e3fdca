import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { keepAdministrator } from './administrators.ts';
import { type GroupNameContext, type GroupRole, rolesOfGroup } from './group-names.ts';
import { lockGrantableRoles } from './role-authority.ts';
import { applyGrantsOnly } from './role-grants.ts';

/** The things that names of groups may refer to in an organization. */
export interface StoredGroupNameContext extends GroupNameContext {
  /** The lower a position, the more powerful a role. */
  workspaceRoles: readonly { id: string; displayName: string; position: number }[];
}

export async function readGroupNameContext(queries: Queries, organizationId: string): Promise<StoredGroupNameContext> {
  const { scimGroupNameSeparator: separator } = await queries.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { scimGroupNameSeparator: true },
  });
  const workspaces = await queries.workspace.findMany({
    where: { organizationId, deletedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { id: true, displayName: true },
  });
  const workspaceRoles = await queries.role.findMany({
    where: { accessScope: 'workspace', OR: [{ organizationId: null }, { organizationId }] },
    orderBy: { id: 'asc' },
    select: { id: true, displayName: true, position: true },
  });
  return { separator, workspaces, workspaceRoles };
}

/** People to look at; missing: everybody. */
export interface GroupGrantScope {
  groupIds?: readonly string[];
  /** Ids of SCIM users. */
  userIds?: readonly string[];
}

/** People whose roles are applied in one go. */
const BATCH = 1_000;

/**
 * Makes the roles of people follow from their SCIM groups. Whatever changed (members, the separator, a workspace or a role
 * that groups name), the same groups give the same roles. The number of statements depends on neither people nor groups.
 *
 * @param scope everybody by default; who changed the members of a group names the group and these members
 * @throws ConflictError when the last administrator would lose that role
 */
export async function applyGroupGrants(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  scope: GroupGrantScope = {},
): Promise<void> {
  await keepAdministrator(transaction, organizationId, () => applyLocked(transaction, organizationId, scope));
}

async function applyLocked(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  scope: GroupGrantScope,
): Promise<void> {
  // Names of groups are read against roles that stay until the transaction ends.
  await lockGrantableRoles(transaction, organizationId);
  const wanted = await readMeanings(transaction, organizationId, scope.groupIds);
  const groupIds = scope.groupIds ? [...scope.groupIds] : null;
  const userIds = scope.userIds ? [...scope.userIds] : null;
  const rows = await transaction.$queryRaw<{ identity_id: string }[]>`
    WITH meaning AS (
      SELECT * FROM unnest(
        ${wanted.map(({ groupId }) => groupId)}::uuid[],
        ${wanted.map(({ workspaceId }) => workspaceId)}::uuid[],
        ${wanted.map(({ roleId }) => roleId)}::uuid[]
      ) AS meaning (group_id, workspace_id, role_id)
    ), wanted AS (
      SELECT u.identity_id, meaning.*, g.created_at
      FROM meaning
      JOIN scim_group g ON g.id = meaning.group_id AND g.organization_id = ${organizationId}::uuid
      JOIN scim_group_member m ON m.group_id = g.id
      JOIN scim_user u ON u.id = m.user_id
      WHERE ${userIds}::uuid[] IS NULL OR m.user_id = ANY(${userIds}::uuid[])
    ), removed AS (
      DELETE FROM role_grant AS stored
      WHERE stored.organization_id = ${organizationId}::uuid AND stored.source = 'scim_group'
        AND (${groupIds}::uuid[] IS NULL OR stored.source_id = ANY(${groupIds}::uuid[]))
        AND (${userIds}::uuid[] IS NULL
          OR stored.identity_id IN (SELECT identity_id FROM scim_user WHERE id = ANY(${userIds}::uuid[])))
        AND NOT EXISTS (
          SELECT FROM wanted
          WHERE wanted.identity_id = stored.identity_id AND wanted.group_id = stored.source_id
            AND wanted.workspace_id IS NOT DISTINCT FROM stored.workspace_id)
      RETURNING identity_id
    ), added AS (
      INSERT INTO role_grant AS stored
        (id, organization_id, identity_id, workspace_id, role_id, source, source_id, source_created_at)
      SELECT gen_random_uuid(), ${organizationId}::uuid, identity_id, workspace_id, role_id, 'scim_group', group_id, created_at
      FROM wanted
      ON CONFLICT (identity_id, coalesce(workspace_id, '00000000-0000-0000-0000-000000000000'), source,
        coalesce(source_id, '00000000-0000-0000-0000-000000000000'))
      DO UPDATE SET role_id = excluded.role_id WHERE stored.role_id <> excluded.role_id
      RETURNING identity_id
    )
    SELECT identity_id::text FROM removed UNION SELECT identity_id::text FROM added`;
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH).map(({ identity_id }) => identity_id);
    await applyGrantsOnly(transaction, organizationId, batch);
  }
}

async function readMeanings(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  groupIds: readonly string[] | undefined,
): Promise<(GroupRole & { groupId: string })[]> {
  const groups = await transaction.scimGroup.findMany({
    where: { organizationId, ...(groupIds && { id: { in: [...groupIds] } }) },
    select: { id: true, displayName: true },
  });
  if (groups.length === 0) return [];
  const context = await readGroupNameContext(transaction, organizationId);
  return groups.flatMap(({ id: groupId, displayName }) =>
    rolesOfGroup(displayName, context).map((role) => ({ groupId, ...role })),
  );
}
