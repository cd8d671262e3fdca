import type { DeploymentSource, RevisionStatus, SourceRevisionConfig } from '@runyard/contracts';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { isEmpty } from './empty-revision.ts';
import { moveRevision } from './revision-moves.ts';

/** What a revision has of its own, beside what it copies of its deployment. */
export interface RevisionOrigin {
  id: string;
  number: number;
  source: DeploymentSource;
  trackedPackages: string[];
}

/**
 * Makes a revision with a copy of everything the roll-out needs: later changes of the deployment are another revision's.
 * Those that still wait are skipped. One with nothing to run waits in QUEUED for the change that brings it.
 */
export async function insertRevision(
  transaction: Prisma.TransactionClient,
  deployment: Deployment,
  { id, number, source, trackedPackages }: RevisionOrigin,
): Promise<Revision> {
  await skipWaiting(transaction, deployment.id);
  const status: RevisionStatus = isEmpty(source, deployment.sourceRevisionConfig as SourceRevisionConfig)
    ? 'QUEUED'
    : 'CREATING';
  const revision = await transaction.revision.create({
    data: {
      id,
      deploymentId: deployment.id,
      number,
      status,
      source,
      sourceConfig: deployment.sourceConfig as Prisma.InputJsonValue,
      sourceRevisionConfig: deployment.sourceRevisionConfig as Prisma.InputJsonValue,
      sealedSecrets: deployment.sealedSecrets,
      secretReferences: deployment.secretReferences as Prisma.InputJsonValue,
      trackedPackages,
    },
  });
  await deploymentEvents.revisionStatusChanged(transaction, revision);
  return revision;
}

/** One that already builds or starts goes on: only what has not begun gives way. */
async function skipWaiting(transaction: Prisma.TransactionClient, deploymentId: string): Promise<void> {
  const unbegun = { in: ['CREATING', 'QUEUED', 'AWAITING_BUILD'] satisfies RevisionStatus[] };
  const waiting = await transaction.revision.findMany({
    // One of a silent data plane is what it was before.
    where: { deploymentId, OR: [{ status: unbegun }, { status: 'UNKNOWN', lastKnownStatus: unbegun }] },
    orderBy: { number: 'asc' },
  });
  for (const revision of waiting) {
    if (revision.status === 'CREATING') await moveRevision(transaction, revision, 'QUEUED');
    await moveRevision(transaction, revision, 'SKIPPED', 'A newer revision took its place.');
  }
}
