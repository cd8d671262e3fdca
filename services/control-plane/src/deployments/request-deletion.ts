import type { Tenant } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { deploymentEvents } from '../events/deployment-events.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';

/**
 * Records that a deployment is to be deleted; the reconciler that runs it then does. It gets no traffic from here on,
 * and what people connected to it is for no other deployment (a trigger ends the generation of its agent's name).
 *
 * @throws NotFoundError when the workspace has no such deployment
 */
export async function requestDeletion(database: Database, tenant: Tenant, id: string): Promise<void> {
  await database.transact(async (transaction) => {
    const current = await deploymentStore.getForChange(transaction, tenant, id);
    if (current.deleteRequestedAt) return;
    const deleted = await transaction.deployment.update({
      where: { id },
      data: { status: 'AWAITING_DELETE', deleteRequestedAt: new Date(), upstreams: [], routeVersion: { increment: 1 } },
    });
    await deploymentEvents.deleted(transaction, deleted);
  });
}
