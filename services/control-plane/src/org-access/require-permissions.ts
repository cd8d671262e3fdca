import { createListenerKey, haltWorkspace, listDeployments, type Operation, resumeWorkspace } from '@runyard/contracts';
import {
  authorize,
  type BoundOperation,
  ForbiddenError,
  type HandlerRequest,
  type Middleware,
  type Principal,
} from '@runyard/service-kit';
import type { DeploymentPolicies } from './deployment-policies.ts';

/**
 * Middleware: only callers that may do what an operation declares get to its handler. On deployments that a request names
 * they need the permission after access policies, which may deny what roles give and give what roles lack; the handler's
 * caller has the permissions on these deployments.
 */
export function requirePermissions(policies: DeploymentPolicies): Middleware {
  return ({ operation, handler }): BoundOperation => ({
    operation,
    handler: async (request) => {
      const { caller } = request;
      if (!caller.isBoundedByPolicies) {
        authorize(caller, operation);
        return handler(request);
      }
      refuseWholeScopes(operation);
      const ids = deploymentsOf(request);
      // The list shows what the caller may see.
      const isAboutDeployments = ids.length > 0 || operation === listDeployments;
      authorize(isAboutDeployments ? withAllowed(caller) : caller, operation);
      if (ids.length === 0) return handler(request);
      return handler({ ...request, caller: await policies.require(caller, ids, permissionOf(operation)) });
    },
  });
}

/** Operations on everything of a workspace, whatever its tags. */
const WHOLE_SCOPES: readonly Operation[] = [createListenerKey, haltWorkspace, resumeWorkspace];

/**
 * A data plane gets the secrets of every deployment of its listener, and a workspace is halted with every deployment, all
 * whatever their tags.
 *
 * @throws ForbiddenError
 */
function refuseWholeScopes(operation: Operation): void {
  const isOfDataPlane = Array.isArray(operation.permission);
  if (!isOfDataPlane && !WHOLE_SCOPES.includes(operation)) return;
  throw new ForbiddenError(
    'Access policies concern this caller, which can so act for no data plane or whole workspace',
    {
      code: 'access_policy_denies',
    },
  );
}

function withAllowed(caller: Principal): Principal {
  return { ...caller, permissions: [...caller.permissions, ...(caller.permissionsByPolicy ?? [])] };
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
