import { NotFoundError, type Principal } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import { tenantOf } from './caller-scope.ts';
import { deploymentStore } from './deployment-store.ts';

/**
 * Checks that the caller may read this deployment, and that the revision, if one is named, belongs to it.
 *
 * @throws NotFoundError alike for what does not exist and for what belongs to another workspace
 */
export async function mustBeReadable(
  queries: Queries,
  caller: Principal,
  { deploymentId, revisionId }: { deploymentId: string; revisionId?: string | undefined },
): Promise<void> {
  const tenant = tenantOf(caller, 'deployments:read');
  if (!(await deploymentStore.find(queries, tenant, deploymentId))) {
    throw new NotFoundError(`Deployment ID ${deploymentId} not found.`, { code: 'deployment_not_found' });
  }
  if (revisionId === undefined) return;
  if (!(await deploymentStore.findRevision(queries, tenant, deploymentId, revisionId))) {
    throw new NotFoundError(`Revision ID ${revisionId} not found.`);
  }
}
