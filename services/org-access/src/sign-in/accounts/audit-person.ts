import type { AuditEntry } from '../../audit/audit-event.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { changeOrigin } from '../../audit/change-origin.ts';
import type { Prisma } from '../../generated/client.ts';
import { actingOrganization } from '../sessions/acting-organization.ts';

/**
 * Records what a person did with the own account, or somebody tried, in the organization where the session acts or would
 * act; without one, in the person's own trail.
 */
export async function recordForPerson(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  personId: string,
  entry: Pick<AuditEntry, 'action' | 'details'>,
): Promise<void> {
  const { credentialId } = changeOrigin();
  const session = credentialId ? await transaction.session.findFirst({ where: { id: credentialId, personId } }) : null;
  const organizationId = await actingOrganization(transaction, personId, session);
  audit.record(organizationId ?? personId, { ...entry, resourceType: 'person', resourceId: personId });
}
