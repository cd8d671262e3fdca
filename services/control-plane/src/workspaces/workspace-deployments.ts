import { type Logger, NotFoundError, type Tenant } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import type { Rollouts } from '../deployments/desired-state.ts';
import { requestDeletion } from '../deployments/request-deletion.ts';

interface Dependencies {
  database: Database;
  rollouts: Pick<Rollouts, 'wake'>;
  logger: Logger;
}

/** Deletes the deployments of a deleted workspace as callers would have. */
export async function deleteDeploymentsOf({ database, rollouts, logger }: Dependencies, tenant: Tenant): Promise<void> {
  const left = await database.prisma.deployment.findMany({
    where: { ...tenant, deleteRequestedAt: null },
    select: { id: true },
  });
  for (const { id } of left) {
    try {
      await requestDeletion(database, tenant, id);
    } catch (error) {
      // Another process was faster.
      if (error instanceof NotFoundError) continue;
      throw error;
    }
    logger.info('deployment deleted with its workspace', { deploymentId: id, workspaceId: tenant.workspaceId });
    rollouts.wake(id);
  }
}
