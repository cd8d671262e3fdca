import type { Activation } from '@runyard/deployments';
import { deploymentEvents, routeOf } from '../events/deployment-events.ts';
import type { Prisma, Revision } from '../generated/client.ts';
import { activateRevision, isNotDeleted } from './activate-revision.ts';

/** Changes where the gateway reaches deployments of the platform itself, each change with its event. */
export const routeChanges = {
  /**
   * Makes the revision the active one, and its servers those of the deployment. Returns false, and changes nothing, when
   * it was interrupted or deleted meanwhile.
   */
  async activate(
    transaction: Prisma.TransactionClient,
    revision: Pick<Revision, 'id' | 'deploymentId'>,
    activation: Activation,
    statusMessage: string | null = null,
  ): Promise<boolean> {
    const fields = { ...activation, mountPrefixRevisionId: revision.id, routeVersion: { increment: 1 } };
    const changed = await activateRevision(transaction, revision, fields, statusMessage);
    if (!changed) return false;
    const { before, after } = changed;
    await deploymentEvents.routeChanged(transaction, after);
    if (after.hasCustomAuth !== before.hasCustomAuth) await deploymentEvents.authModeChanged(transaction, after);
    return true;
  },

  /** Does nothing when the upstreams have not changed. */
  async setUpstreams(transaction: Prisma.TransactionClient, id: string, upstreams: string[]): Promise<void> {
    const row = await transaction.deployment.findUnique({ where: { id } });
    if (!row || row.deleteRequestedAt || isEqual(row.upstreams, upstreams)) return;
    await change(transaction, id, { upstreams });
  },

  /** Does nothing when the prefix has not changed, or the revision is not the active one. */
  async setMountPrefix(
    transaction: Prisma.TransactionClient,
    id: string,
    revisionId: string,
    mountPrefix: string | null,
  ): Promise<void> {
    if (!(await isNotDeleted(transaction, id))) return;
    const row = await transaction.deployment.findUniqueOrThrow({ where: { id } });
    if (row.activeRevisionId !== revisionId || routeOf(row).mount_prefix === mountPrefix) return;
    await change(transaction, id, { mountPrefix, mountPrefixRevisionId: revisionId });
  },
};

async function change(
  transaction: Prisma.TransactionClient,
  id: string,
  data: Pick<Prisma.DeploymentUncheckedUpdateInput, 'upstreams' | 'mountPrefix' | 'mountPrefixRevisionId'>,
): Promise<void> {
  const row = await transaction.deployment.update({
    where: { id },
    data: { ...data, routeVersion: { increment: 1 } },
  });
  await deploymentEvents.routeChanged(transaction, row);
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
