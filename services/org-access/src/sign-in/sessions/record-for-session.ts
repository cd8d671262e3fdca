import type { AuditEntry } from '../../audit/audit-event.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma, Session } from '../../generated/client.ts';
import { actingOrganization } from './acting-organization.ts';

/** Records an event of a session in the organization where it acts; without one, in the trail of its person. */
export async function recordForSession(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  session: Pick<Session, 'personId' | 'organizationId' | 'ssoOrganizationId'>,
  entry: AuditEntry,
): Promise<void> {
  const organizationId = await actingOrganization(transaction, session.personId, session);
  audit.record(organizationId ?? session.personId, entry);
}
