import type { AuditEntry } from '../audit/audit-event.ts';
import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Prisma, Session } from '../generated/client.ts';

/** Records an event in the organizations where a session may act. */
export async function recordForSession(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  { personId, ssoOrganizationId }: Pick<Session, 'personId' | 'ssoOrganizationId'>,
  entry: AuditEntry,
): Promise<void> {
  const identities = await transaction.identity.findMany({
    where: { personId, isRemoved: false, ...(ssoOrganizationId && { organizationId: ssoOrganizationId }) },
    select: { organizationId: true },
  });
  for (const { organizationId } of identities) audit.record(organizationId, entry);
}
