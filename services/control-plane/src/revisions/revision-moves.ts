import type { RevisionStatus } from '@runyard/contracts';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Prisma, Revision } from '../generated/client.ts';
import { predecessorsOf } from './revision-transitions.ts';

/**
 * Gives a revision its next status, with the event that tells of it. The only way a status changes.
 *
 * @returns false when it is in a status this one may not follow: another change was faster
 */
export async function moveRevision(
  transaction: Prisma.TransactionClient,
  revision: Pick<Revision, 'id' | 'deploymentId'>,
  to: RevisionStatus,
  statusMessage: string | null = null,
): Promise<boolean> {
  const { count } = await transaction.revision.updateMany({
    where: { id: revision.id, status: { in: predecessorsOf(to) } },
    data: { status: to, statusMessage },
  });
  if (count === 0) return false;
  await deploymentEvents.revisionStatusChanged(transaction, {
    id: revision.id,
    deploymentId: revision.deploymentId,
    status: to,
  });
  return true;
}
