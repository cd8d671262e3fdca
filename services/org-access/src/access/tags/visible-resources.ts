import { type Principal, tenantOf } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import { accessOfCaller } from '../read-only.ts';
import { decideAboutDeployments } from '../resource-permissions.ts';

/** Returns the resources without the deployments that access policies hide from the caller, who may read the workspace. */
export async function filterVisible<Resource extends { resourceType: string; resourceId: string }>(
  queries: Queries,
  caller: Principal,
  resources: readonly Resource[],
): Promise<Resource[]> {
  if (!caller.isBoundedByPolicies) return [...resources];
  const tenant = tenantOf(caller);
  const access = await accessOfCaller(queries, caller, tenant.workspaceId);
  const isDeployment = ({ resourceType }: Resource) => resourceType === 'deployment';
  const deploymentIds = [...new Set(resources.filter(isDeployment).map(({ resourceId }) => resourceId))];
  const visible = access
    ? await decideAboutDeployments(queries, tenant, access, { deploymentIds, permissions: ['deployments:read'] })
    : new Map();
  return resources.filter((resource) => !isDeployment(resource) || visible.has(resource.resourceId));
}
