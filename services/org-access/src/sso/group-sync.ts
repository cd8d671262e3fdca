import { ConflictError } from '@runyard/service-kit';
import { type GroupMeaning, type GroupNameContext, readGroupName } from '../access/group-names.ts';
import { PLATFORM_ROLES, rankOfOrganizationRole } from '../access/platform-roles.ts';
import { addGrants, applyGrants, type NewGrant } from '../access/role-grants.ts';
import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Queries } from '../database/database.ts';
import type { Prisma, SsoProvider } from '../generated/client.ts';

/** A role that the groups of a person give. */
export type GroupRole = Pick<NewGrant, 'workspaceId' | 'roleId'>;

/**
 * Returns the roles that groups give by their names; names that mean nothing give none. In a place where several groups
 * give roles the most powerful counts.
 */
export async function readGroupRoles(
  queries: Queries,
  organizationId: string,
  groups: readonly string[],
): Promise<GroupRole[]> {
  const { context, rankOf } = await readContext(queries, organizationId);
  const strongest = new Map<string | null, string>();
  for (const { workspaceId, roleId } of groups.flatMap((name) => rolesOf(readGroupName(name, context)))) {
    const current = strongest.get(workspaceId);
    if (current === undefined || rankOf(roleId) < rankOf(current)) strongest.set(workspaceId, roleId);
  }
  return [...strongest].map(([workspaceId, roleId]) => ({ workspaceId, roleId }));
}

function rolesOf(meaning: GroupMeaning | null): GroupRole[] {
  if (!meaning) return [];
  if (meaning.kind === 'administrators') return [{ workspaceId: null, roleId: PLATFORM_ROLES.organizationAdmin }];
  return [
    { workspaceId: null, roleId: meaning.organizationRoleId },
    { workspaceId: meaning.workspaceId, roleId: meaning.workspaceRoleId },
  ];
}

async function readContext(
  queries: Queries,
  organizationId: string,
): Promise<{ context: GroupNameContext; rankOf: (roleId: string) => number }> {
  const { scimGroupNameSeparator: separator } = await queries.organization.findUniqueOrThrow({
    where: { id: organizationId },
  });
  const workspaces = await queries.workspace.findMany({
    where: { organizationId, deletedAt: null },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { id: true, displayName: true },
  });
  const workspaceRoles = await queries.role.findMany({
    where: { accessScope: 'workspace', OR: [{ organizationId: null }, { organizationId }] },
    select: { id: true, displayName: true, position: true },
  });
  const positions = new Map(workspaceRoles.map(({ id, position }) => [id, position]));
  return {
    context: { separator, workspaces, workspaceRoles },
    rankOf: (roleId) => positions.get(roleId) ?? rankOfOrganizationRole(roleId),
  };
}

/**
 * Makes the roles that a provider's groups gave a person those that they give now. Roles of other sources stay. The last
 * administrator of the organization keeps theirs: otherwise nobody could correct the groups.
 */
export async function syncGroupRoles(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { id: sourceId, organizationId }: SsoProvider,
  identityId: string,
  roles: readonly GroupRole[],
): Promise<void> {
  const where = { organizationId, identityId, source: 'sso_group', sourceId };
  const before = await transaction.roleGrant.findMany({ where, select: { workspaceId: true, roleId: true } });
  if (isSame(before, roles)) return;
  await transaction.$executeRaw`SAVEPOINT group_roles`;
  try {
    await transaction.roleGrant.deleteMany({ where });
    const source = { source: 'sso_group' as const, sourceId, identityId };
    await addGrants(
      transaction,
      organizationId,
      roles.map((role) => ({ ...role, ...source })),
    );
    await applyGrants(transaction, organizationId, [identityId]);
  } catch (error) {
    if (!(error instanceof ConflictError && error.code === 'last_administrator')) throw error;
    await transaction.$executeRaw`ROLLBACK TO SAVEPOINT group_roles`;
    audit.record(organizationId, { ...changeOf(identityId, before, roles), action: 'member.group_roles_kept' });
    return;
  }
  audit.record(organizationId, { ...changeOf(identityId, before, roles), action: 'member.group_roles_changed' });
}

function changeOf(identityId: string, before: readonly GroupRole[], after: readonly GroupRole[]) {
  return { resourceType: 'identity', resourceId: identityId, before: { roles: before }, after: { roles: after } };
}

function isSame(one: readonly GroupRole[], other: readonly GroupRole[]): boolean {
  const key = ({ workspaceId, roleId }: GroupRole) => `${workspaceId} ${roleId}`;
  const keys = new Set(one.map(key));
  return one.length === other.length && other.every((role) => keys.has(key(role)));
}
