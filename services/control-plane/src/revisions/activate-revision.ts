import type { Deployment, Prisma, Revision } from '../generated/client.ts';
import { moveRevision } from './revision-moves.ts';

/** The fields of a deployment that change together with its active revision. */
export type ActiveFields = Pick<
  Prisma.DeploymentUncheckedUpdateInput,
  'imageVersion' | 'upstreams' | 'hasCustomAuth' | 'mountPrefix' | 'mountPrefixRevisionId' | 'routeVersion'
>;

/**
 * Makes a revision the active one of its deployment, whoever runs it.
 *
 * @returns the deployment before and after; undefined, and nothing has changed, when the revision was interrupted or its
 * deployment is being deleted
 */
export async function activateRevision(
  transaction: Prisma.TransactionClient,
  revision: Pick<Revision, 'id' | 'deploymentId'>,
  fields: ActiveFields,
  statusMessage: string | null = null,
): Promise<{ before: Deployment; after: Deployment } | undefined> {
  const id = revision.deploymentId;
  // The event of the deletion has been written, so no later event may restore the route.
  if (!(await isNotDeleted(transaction, id))) return undefined;
  if (!(await moveRevision(transaction, revision, 'DEPLOYED', statusMessage))) return undefined;
  const before = await transaction.deployment.findUniqueOrThrow({ where: { id } });
  const after = await transaction.deployment.update({
    where: { id },
    data: { activeRevisionId: revision.id, ...fields },
  });
  return { before, after };
}

/** Locks the deployment, so that the answer holds until the transaction ends. */
export async function isNotDeleted(transaction: Prisma.TransactionClient, id: string): Promise<boolean> {
  const rows = await transaction.$queryRaw<unknown[]>`
    SELECT 1 FROM deployment WHERE id = ${id}::uuid AND delete_requested_at IS NULL FOR UPDATE`;
  return rows.length > 0;
}
