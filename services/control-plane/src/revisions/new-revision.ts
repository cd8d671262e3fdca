import type { DeploymentSource, RevisionStatus, SourceRevisionConfig } from '@runyard/contracts';
import { isEmpty } from '@runyard/deployments';
import { deploymentEvents } from '../events/deployment-events.ts';
import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { moveRevision } from './revision-moves.ts';

/** The fields that a revision does not copy from its deployment. */
export interface RevisionOrigin {
  id: string;
  number: number;
  source: DeploymentSource;
  trackedPackages: string[];
}

/**
 * Creates a revision with a copy of everything that its roll-out needs, so that later changes of the deployment do not
 * affect it. Skips the revisions that wait. A revision with nothing to run waits in QUEUED.
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
      encryptedSecrets: deployment.encryptedSecrets,
      secretReferences: deployment.secretReferences as Prisma.InputJsonValue,
      trackedPackages,
    },
  });
  await deploymentEvents.revisionStatusChanged(transaction, revision);
  return revision;
}

/** Skips revisions that have not begun. One that builds or starts goes on. */
async function skipWaiting(transaction: Prisma.TransactionClient, deploymentId: string): Promise<void> {
  const unbegun = { in: ['CREATING', 'QUEUED', 'AWAITING_BUILD'] satisfies RevisionStatus[] };
  const waiting = await transaction.revision.findMany({
    // A revision of an unresponsive data plane keeps its last known status.
    where: { deploymentId, OR: [{ status: unbegun }, { status: 'UNKNOWN', lastKnownStatus: unbegun }] },
    orderBy: { number: 'asc' },
  });
  for (const revision of waiting) {
    if (revision.status === 'CREATING') await moveRevision(transaction, revision, 'QUEUED');
    await moveRevision(transaction, revision, 'SKIPPED', 'A newer revision took its place.');
  }
}
