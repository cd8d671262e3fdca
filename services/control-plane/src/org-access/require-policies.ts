import type { Operation } from '@runyard/contracts';
import type { BoundOperation, HandlerRequest, Middleware } from '@runyard/service-kit';
import type { DeploymentPolicies } from './deployment-policies.ts';

/** Middleware: requests about deployments have the permission of the operation on each of them, as policies say. */
export function requirePolicies(policies: DeploymentPolicies): Middleware {
  return ({ operation, handler }): BoundOperation => ({
    operation,
    handler: async (request) => {
      if (request.caller.isBoundedByPolicies) {
        const ids = deploymentsOf(request);
        if (ids.length > 0) await policies.require(request.caller, ids, permissionOf(operation));
      }
      return handler(request);
    },
  });
}

/** Returns the deployments that the path names, or the query of an operation on several. */
function deploymentsOf({ params, query }: HandlerRequest): string[] {
  const { deployment_id, project_id } = params as { deployment_id?: string; project_id?: string };
  const { deployment_ids } = query as { deployment_ids?: string | string[] };
  const several = Array.isArray(deployment_ids) ? deployment_ids : [];
  return [...new Set([deployment_id, project_id, ...several].flatMap((id) => id?.toLowerCase() ?? []))];
}

function permissionOf({ permission }: Operation): string {
  const [first] = [permission ?? []].flat();
  return typeof first === 'string' && first.startsWith('deployments:') ? first : 'deployments:read';
}
