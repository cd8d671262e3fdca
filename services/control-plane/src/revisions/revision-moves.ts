import type { RevisionStatus } from '@runyard/contracts';
import { toSqlText } from '@runyard/database';
import { predecessorsOf } from '@runyard/deployments';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Prisma, Revision } from '../generated/client.ts';

/**
 * Changes a revision's status and records the event. This is the only way in which a status changes.
 *
 * @returns false when the current status does not allow the change, because another change was faster
 */
export async function moveRevision(
  transaction: Prisma.TransactionClient,
  revision: Pick<Revision, 'id' | 'deploymentId'>,
  to: RevisionStatus,
  statusMessage: string | null = null,
): Promise<boolean> {
  const { count } = await transaction.revision.updateMany({
    where: { id: revision.id, status: { in: predecessorsOf(to) } },
    // It may have what a project has printed.
    data: { status: to, statusMessage: statusMessage && toSqlText(statusMessage) },
  });
  if (count === 0) return false;
  await deploymentEvents.revisionStatusChanged(transaction, {
    id: revision.id,
    deploymentId: revision.deploymentId,
    status: to,
  });
  return true;
}
