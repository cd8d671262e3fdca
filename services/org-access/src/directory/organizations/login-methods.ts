import type { LinkedLoginMethod } from '@runyard/contracts';
import { ForbiddenError, type Principal } from '@runyard/service-kit';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Queries } from '../../database/database.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import type { Organization, Prisma } from '../../generated/client.ts';
import { renderLogin } from '../members/render-member.ts';
import { loginsSeenBy } from '../people/logins-of.ts';

/** Returns the login methods of the caller that their organization may see; none for service accounts. */
export async function listLoginMethods(
  queries: Queries,
  { personId, organizationId }: Principal,
): Promise<LinkedLoginMethod[]> {
  if (!personId) return [];
  const logins = await queries.login.findMany({
    where: { personId, ...loginsSeenBy(organizationId) },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return logins.map(renderLogin);
}

/**
 * Allows sessions of single sign-on alone, or all. Who switches it on is an administrator whom an identity provider of the
 * organization signed in, so that one can still get in.
 *
 * @throws ForbiddenError
 */
export async function setSsoOnly(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { organizationId, sessionId }: Principal,
  ssoOnly: boolean,
): Promise<Organization> {
  // Changes of the providers wait, so that none of them is the last that goes.
  await transaction.$queryRaw`SELECT id FROM organization WHERE id = ${organizationId}::uuid FOR UPDATE`;
  const before = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
  if (before.ssoOnly === ssoOnly) return before;
  if (ssoOnly) await requireSsoSession(transaction, organizationId, sessionId);
  const updated = await transaction.organization.update({ where: { id: organizationId }, data: { ssoOnly } });
  await organizationEvents.settingsChanged(transaction, { organizationId });
  audit.record(organizationId, {
    action: 'organization.updated',
    resourceType: 'organization',
    resourceId: organizationId,
    before: { ssoOnly: before.ssoOnly },
    after: { ssoOnly },
  });
  return updated;
}

async function requireSsoSession(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  sessionId: string | undefined,
): Promise<void> {
  const session =
    sessionId &&
    (await transaction.session.findFirst({
      where: { id: sessionId, ssoOrganizationId: organizationId, endedAt: null },
    }));
  const provider =
    session &&
    (await transaction.ssoProvider.findFirst({
      where: { organizationId, isEnabled: true, ...(session.ssoProviderId && { id: session.ssoProviderId }) },
    }));
  if (!provider)
    throw new ForbiddenError('Only who is signed in by single sign-on of this organization can require it', {
      code: 'sso_session_required',
    });
}
