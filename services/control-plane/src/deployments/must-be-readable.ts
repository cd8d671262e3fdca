import { NotFoundError, type Principal, tenantOf } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import { deploymentStore } from '../revisions/deployment-store.ts';

/**
 * Checks that this deployment is in the caller's workspace, and that the revision, if one is named, belongs to it.
 *
 * @throws NotFoundError alike for what does not exist and for what belongs to another workspace
 */
export async function mustBeReadable(
  queries: Queries,
  caller: Principal,
  { deploymentId, revisionId }: { deploymentId: string; revisionId?: string | undefined },
): Promise<void> {
  const tenant = tenantOf(caller);
  if (!(await deploymentStore.find(queries, tenant, deploymentId))) {
    throw new NotFoundError(`Deployment ID ${deploymentId} not found.`, { code: 'deployment_not_found' });
  }
  if (revisionId === undefined) return;
  if (!(await deploymentStore.findRevision(queries, tenant, deploymentId, revisionId))) {
    throw new NotFoundError(`Revision ID ${revisionId} not found.`);
  }
}
