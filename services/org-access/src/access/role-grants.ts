import { v7 as uuidv7 } from 'uuid';
import type { Queries } from '../database/database.ts';
import { organizationEvents } from '../database/organization-events.ts';
import type { Prisma } from '../generated/client.ts';
import { keepAdministrator } from './administrators.ts';
import { publishAccessChange } from './credentials/access-change.ts';
import { effectiveRoles, type Grant, ROLE_WITHOUT_GRANT } from './effective-roles.ts';

/** A grant to store; the source's time is now by default. */
export type NewGrant = Omit<Grant, 'sourceCreatedAt'> & { identityId: string; sourceCreatedAt?: Date };

/** Reads the grants of a person, and of many people at once. */
export async function listGrants(
  queries: Queries,
  organizationId: string,
  identityIds: readonly string[],
): Promise<Map<string, Grant[]>> {
  const rows = await queries.roleGrant.findMany({ where: { organizationId, identityId: { in: [...identityIds] } } });
  const grants = new Map<string, Grant[]>(identityIds.map((id) => [id, []]));
  for (const { identityId, workspaceId, roleId, source, sourceId, sourceCreatedAt } of rows) {
    grants.get(identityId)?.push({ workspaceId, roleId, source: source as Grant['source'], sourceId, sourceCreatedAt });
  }
  return grants;
}

/**
 * Adds grants, and replaces those of the same source in the same place. The roles follow with `applyGrants`, which the
 * caller calls in the same transaction.
 */
export async function addGrants(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  grants: readonly NewGrant[],
): Promise<void> {
  if (grants.length === 0) return;
  const column = <T>(value: (grant: NewGrant) => T) => grants.map(value);
  const now = new Date();
  await transaction.$executeRaw`
    INSERT INTO role_grant (id, organization_id, identity_id, workspace_id, role_id, source, source_id, source_created_at)
    SELECT id, ${organizationId}::uuid, identity_id, workspace_id, role_id, source, source_id, source_created_at
    FROM unnest(
      ${column(() => uuidv7())}::uuid[],
      ${column(({ identityId }) => identityId)}::uuid[],
      ${column(({ workspaceId }) => workspaceId)}::uuid[],
      ${column(({ roleId }) => roleId)}::uuid[],
      ${column(({ source }) => source)}::text[],
      ${column(({ sourceId }) => sourceId)}::uuid[],
      ${column(({ sourceCreatedAt }) => sourceCreatedAt ?? now)}::timestamptz[]
    ) AS granted (id, identity_id, workspace_id, role_id, source, source_id, source_created_at)
    ON CONFLICT (identity_id, coalesce(workspace_id, '00000000-0000-0000-0000-000000000000'), source,
      coalesce(source_id, '00000000-0000-0000-0000-000000000000'))
    DO UPDATE SET role_id = excluded.role_id, source_created_at = excluded.source_created_at`;
}

/**
 * Makes the roles of people follow from their grants. People who lost a role or got another are signed out; a further
 * workspace signs nobody out. Caches are told of both. Concurrent calls for one organization wait for each other.
 *
 * @param options.areNew true for identities of this transaction: nobody has acted as them, so that no session ends
 * @throws ConflictError when the last administrator would lose that role
 * @returns the identities whose roles changed
 */
export async function applyGrants(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityIds: readonly string[],
  { areNew = false }: { areNew?: boolean } = {},
): Promise<string[]> {
  if (identityIds.length === 0) return [];
  return keepAdministrator(transaction, organizationId, () =>
    applyGrantsOnly(transaction, organizationId, identityIds, { areNew }),
  );
}

/**
 * Like `applyGrants`, for one of several steps within one `keepAdministrator`: between two steps nobody may administer the
 * organization, after the last one somebody has to.
 */
export async function applyGrantsOnly(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityIds: readonly string[],
  { areNew = false }: { areNew?: boolean } = {},
): Promise<string[]> {
  const { reassigned, widened } = await setRoles(transaction, organizationId, identityIds);
  if (!areNew && reassigned.length > 0)
    await publishAccessChange(transaction, organizationId, reassigned, 'role_changed');
  if (!areNew && widened.length > 0)
    await organizationEvents.identitiesChanged(transaction, { organizationId, identityIds: widened });
  return [...reassigned, ...widened];
}

interface ChangedIdentities {
  /** Identities that lost a role or got another one in its place. */
  reassigned: string[];
  /** Identities that only got into further workspaces. */
  widened: string[];
}

async function setRoles(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityIds: readonly string[],
): Promise<ChangedIdentities> {
  const ids = [...new Set(identityIds)].sort();
  await transaction.$queryRaw`
    SELECT id FROM identity WHERE organization_id = ${organizationId}::uuid AND id = ANY(${ids}::uuid[])
    ORDER BY id FOR UPDATE`;
  const identities = await transaction.identity.findMany({
    where: { organizationId, id: { in: ids }, kind: 'person' },
    select: { id: true, organizationRoleId: true, members: { select: { workspaceId: true, roleId: true } } },
  });
  const grants = await listGrants(transaction, organizationId, ids);
  const wanted: MemberRow[] = [];
  const [reassigned, widened]: [string[], string[]] = [[], []];
  const organizationRoles = new Map<string, string[]>();
  for (const { id, organizationRoleId, members } of identities) {
    const roles = effectiveRoles(grants.get(id) ?? []);
    const roleId = roles.organization?.roleId ?? ROLE_WITHOUT_GRANT;
    const current = new Map(members.map((member) => [member.workspaceId, member.roleId]));
    const keepsRoles =
      roleId === organizationRoleId &&
      [...current].every(([workspaceId, held]) => roles.workspaces.get(workspaceId)?.roleId === held);
    if (keepsRoles && current.size === roles.workspaces.size) continue;
    (keepsRoles ? widened : reassigned).push(id);
    organizationRoles.set(roleId, [...(organizationRoles.get(roleId) ?? []), id]);
    for (const [workspaceId, grant] of roles.workspaces)
      wanted.push({ identityId: id, workspaceId, roleId: grant.roleId });
  }
  const changed = [...reassigned, ...widened];
  if (changed.length === 0) return { reassigned, widened };
  for (const [organizationRoleId, holders] of organizationRoles) {
    await transaction.identity.updateMany({
      where: { organizationId, id: { in: holders } },
      data: { organizationRoleId },
    });
  }
  await replaceMembers(transaction, organizationId, changed, wanted);
  return { reassigned, widened };
}

interface MemberRow {
  identityId: string;
  workspaceId: string;
  roleId: string;
}

/** Keeps the ids of memberships that stay, because clients hold them. */
async function replaceMembers(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityIds: string[],
  wanted: MemberRow[],
): Promise<void> {
  const identities = wanted.map(({ identityId }) => identityId);
  const workspaces = wanted.map(({ workspaceId }) => workspaceId);
  const roles = wanted.map(({ roleId }) => roleId);
  await transaction.$executeRaw`
    DELETE FROM member
    WHERE organization_id = ${organizationId}::uuid AND identity_id = ANY(${identityIds}::uuid[])
      AND (identity_id, workspace_id) NOT IN (SELECT * FROM unnest(${identities}::uuid[], ${workspaces}::uuid[]))`;
  await transaction.$executeRaw`
    INSERT INTO member (organization_id, identity_id, workspace_id, role_id)
    SELECT ${organizationId}::uuid, granted.* FROM
      unnest(${identities}::uuid[], ${workspaces}::uuid[], ${roles}::uuid[]) AS granted (identity_id, workspace_id, role_id)
    ON CONFLICT (organization_id, workspace_id, identity_id) DO UPDATE SET role_id = excluded.role_id`;
}
