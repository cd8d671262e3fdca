import type { AuditEntry } from '../audit/audit-event.ts';
import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Prisma } from '../generated/client.ts';

/** Records what a person did with the own account, or somebody tried, in every organization that the person belongs to. */
export async function recordForPerson(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  entry: Pick<AuditEntry, 'action' | 'details'>,
): Promise<void> {
  const identities = await transaction.identity.findMany({
    where: { personId, isRemoved: false },
    select: { organizationId: true },
  });
  for (const { organizationId } of identities)
    audit.record(organizationId, { ...entry, resourceType: 'person', resourceId: personId });
}
