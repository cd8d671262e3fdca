import { ConflictError, type Principal } from '@runyard/service-kit';
import { keepAdministrator } from '../../access/administrators.ts';
import { effectiveRoles } from '../../access/effective-roles.ts';
import { requireAuthorityOver } from '../../access/role-authority.ts';
import { addGrants, applyGrants, listGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';
import { memberNotFound } from './member-errors.ts';

/**
 * Gives a person a role in the organization by hand.
 *
 * @throws ConflictError when a group of SCIM decides the role, or the person is the last administrator; ForbiddenError when
 *   the caller may not handle the person, or not give the role; NotFoundError
 */
export async function changeOrganizationRole(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  caller: Principal,
  { identityId, roleId }: { identityId: string; roleId: string },
): Promise<void> {
  const { organizationId } = caller;
  await keepAdministrator(transaction, organizationId, async () => {
    const identity = await transaction.identity.findFirst({
      where: { organizationId, id: identityId, kind: 'person', isRemoved: false },
    });
    if (!identity) throw memberNotFound();
    requireAuthorityOver(caller, identity.organizationRoleId);
    requireAuthorityOver(caller, roleId);
    await requireNoGroup(transaction, organizationId, identityId, null);
    if (identity.organizationRoleId === roleId) return;
    await addGrants(transaction, organizationId, [
      { identityId, workspaceId: null, roleId, source: 'manual', sourceId: null },
    ]);
    await applyGrants(transaction, organizationId, [identityId]);
    audit.record(organizationId, {
      action: 'member.role_changed',
      resourceType: 'identity',
      resourceId: identityId,
      before: { organizationRoleId: identity.organizationRoleId },
      after: { organizationRoleId: roleId },
    });
  });
}

/**
 * Refuses a change by hand where a group of SCIM decides the role: the group would win, and the change do nothing.
 *
 * @param workspaceId null for the role in the organization
 * @throws ConflictError that names the group
 */
export async function requireNoGroup(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
  workspaceId: string | null,
): Promise<void> {
  const roles = effectiveRoles((await listGrants(transaction, organizationId, [identityId])).get(identityId) ?? []);
  const deciding = workspaceId === null ? roles.organization : roles.workspaces.get(workspaceId);
  if (deciding?.source !== 'scim_group') return;
  const group = deciding.sourceId
    ? await transaction.scimGroup.findFirst({ where: { organizationId, id: deciding.sourceId } })
    : null;
  throw new ConflictError(
    `The group ${JSON.stringify(group?.displayName ?? '')} of the identity provider decides this role`,
    {
      code: 'role_decided_by_group',
      headers: { 'x-should-retry': 'false' },
    },
  );
}
