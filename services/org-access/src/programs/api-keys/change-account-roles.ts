import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';
import { requireRole } from './service-accounts.ts';

/**
 * Gives a service account other roles. Caches are told, so that they are in force at once.
 *
 * @throws InvalidFieldError for a role that does not exist
 */
export async function changeAccountRoles(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
  roles: { workspaceRoleId?: string | undefined; organizationRoleId?: string | undefined },
): Promise<void> {
  const { workspaceRoleId, organizationRoleId } = roles;
  if (organizationRoleId) {
    await requireRole(transaction, organizationId, organizationRoleId, 'organization');
    await transaction.identity.updateMany({
      where: { organizationId, id: identityId },
      data: { organizationRoleId, showsOrganizationRole: true },
    });
  }
  if (workspaceRoleId) {
    await requireRole(transaction, organizationId, workspaceRoleId, 'workspace');
    await transaction.identity.updateMany({
      where: { organizationId, id: identityId, everywhereRoleId: { not: null } },
      data: { everywhereRoleId: workspaceRoleId },
    });
    await transaction.member.updateMany({ where: { organizationId, identityId }, data: { roleId: workspaceRoleId } });
  }
  await organizationEvents.identitiesChanged(transaction, { organizationId, identityIds: [identityId] });
}
