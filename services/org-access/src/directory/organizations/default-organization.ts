import { takeAdvisoryLock } from '@runyard/database';
import { ForbiddenError, type Principal } from '@runyard/service-kit';
import { identitiesInReach } from '../../access/credentials/reach.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Organization, Prisma } from '../../generated/client.ts';

/**
 * Makes the caller's organization the default one of the installation.
 *
 * @throws ForbiddenError when the caller's session does not administer the default organization so far, or there is
 * none: a key may have been made in a session of another organization's identity provider, which says of whomever it
 * likes who they are
 */
export async function setDefaultOrganization(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { organizationId, sessionId }: Principal,
): Promise<Organization> {
  await takeAdvisoryLock(transaction, 'default organization');
  const former = await transaction.organization.findFirst({ where: { isDefault: true } });
  if (former?.id === organizationId) return former;
  if (former && !(await administers(transaction, former.id, sessionId)))
    throw new ForbiddenError('Only administrators of both organizations change the default one', {
      code: 'organization_admin_required',
    });
  if (former) await mark(transaction, audit, former.id, false);
  return mark(transaction, audit, organizationId, true);
}

async function administers(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  sessionId: string | undefined,
): Promise<boolean> {
  const session = sessionId === undefined ? null : await transaction.session.findUnique({ where: { id: sessionId } });
  if (!session) return false;
  const isAdministrator = { organizationId, disabledAt: null, organizationRoleId: PLATFORM_ROLES.organizationAdmin };
  const administrator = await transaction.identity.findFirst({
    where: { AND: [identitiesInReach(session), isAdministrator] },
    select: { id: true },
  });
  return administrator !== null;
}

async function mark(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  isDefault: boolean,
): Promise<Organization> {
  const updated = await transaction.organization.update({ where: { id: organizationId }, data: { isDefault } });
  await organizationEvents.settingsChanged(transaction, { organizationId });
  audit.record(organizationId, {
    action: 'organization.updated',
    resourceType: 'organization',
    resourceId: organizationId,
    before: { isDefault: !isDefault },
    after: { isDefault },
  });
  return updated;
}
