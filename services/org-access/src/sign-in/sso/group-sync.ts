import { ConflictError } from '@runyard/service-kit';
import { readGroupNameContext } from '../../access/group-grants.ts';
import { type GroupRole, rolesOfGroup } from '../../access/group-names.ts';
import { rankOfOrganizationRole } from '../../access/platform-roles.ts';
import { lockGrantableRoles } from '../../access/role-authority.ts';
import { addGrants, applyGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Queries } from '../../database/database.ts';
import type { Prisma, SsoProvider } from '../../generated/client.ts';

/**
 * Returns the roles that groups give by their names; names that mean nothing give none. In a place where several groups
 * give roles the most powerful counts.
 */
export async function readGroupRoles(
  queries: Queries,
  organizationId: string,
  groups: readonly string[],
): Promise<GroupRole[]> {
  const context = await readGroupNameContext(queries, organizationId);
  const positions = new Map(context.workspaceRoles.map(({ id, position }) => [id, position]));
  const rankOf = (roleId: string) => positions.get(roleId) ?? rankOfOrganizationRole(roleId);
  const strongest = new Map<string | null, string>();
  for (const { workspaceId, roleId } of groups.flatMap((name) => rolesOfGroup(name, context))) {
    const current = strongest.get(workspaceId);
    if (current === undefined || rankOf(roleId) < rankOf(current)) strongest.set(workspaceId, roleId);
  }
  return [...strongest].map(([workspaceId, roleId]) => ({ workspaceId, roleId }));
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
  wanted: readonly GroupRole[],
): Promise<void> {
  // A role may have been deleted since the names of groups were read.
  const given = await lockGrantableRoles(transaction, organizationId);
  const roles = wanted.filter(({ roleId }) => given.has(roleId));
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
