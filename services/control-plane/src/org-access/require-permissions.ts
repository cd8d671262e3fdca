import {
  createListenerKey,
  createWorkspaceBudget,
  deleteWorkspaceBudget,
  haltWorkspace,
  listDeployments,
  type Operation,
  patchWorkspaceBudget,
  resumeWorkspace,
} from '@runyard/contracts';
import {
  authorize,
  type BoundOperation,
  ForbiddenError,
  type HandlerRequest,
  type Middleware,
  type Principal,
} from '@runyard/service-kit';
import { type DeploymentPolicies, ON_DEPLOYMENTS, type OnDeployments } from './deployment-policies.ts';

/**
 * Middleware: only callers that may do what an operation declares get to its handler. On deployments that a request names
 * they need the permission after access policies, which may deny what roles give and give what roles lack; the handler's
 * caller has the permissions on these deployments.
 *
 * @throws Error at the start, for an operation on deployments whose permission is none on deployments
 */
export function requirePermissions(policies: Pick<DeploymentPolicies, 'require'>): Middleware {
  return ({ operation, handler }): BoundOperation => {
    const permission = findPermission(operation);
    return {
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
        if (!permission) throw new Error(`${operation.operationId} names deployments, and has no permission on them`);
        return handler({ ...request, caller: await policies.require(caller, ids, permission) });
      },
    };
  };
}

/** Operations on everything of a workspace, whatever its tags. */
const WHOLE_SCOPES: readonly Operation[] = [
  createListenerKey,
  haltWorkspace,
  resumeWorkspace,
  createWorkspaceBudget,
  patchWorkspaceBudget,
  deleteWorkspaceBudget,
];

/**
 * A data plane gets the secrets of every deployment of its listener, and a workspace is halted or capped with every
 * deployment, all whatever their tags.
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

/** The fields of paths and queries that name deployments. */
const ONE = ['deployment_id', 'project_id'] as const;
const SEVERAL = 'deployment_ids';

/** Returns the deployments that the path names, or the query of an operation on several. */
function deploymentsOf({ params, query }: HandlerRequest): string[] {
  const named = ONE.map((field) => (params as Partial<Record<string, string>>)[field]);
  const { [SEVERAL]: deployments } = query as { [SEVERAL]?: string | string[] };
  const several = Array.isArray(deployments) ? deployments : [];
  return [...new Set([...named, ...several].flatMap((id) => id?.toLowerCase() ?? []))];
}

/** Returns the permission that callers need on the deployments of a request; undefined where none are named. */
function findPermission({ operationId, permission, path, query }: Operation): OnDeployments | undefined {
  const known = ON_DEPLOYMENTS.find((each) => each === permission);
  const isNamed = ONE.some((field) => path.includes(`{${field}}`)) || SEVERAL in (query?.properties ?? {});
  // Data planes and whoever needs no permission are none of access policies.
  const isForPeople = typeof permission === 'string' && !permission.endsWith(':speak');
  if (known || !isNamed || !isForPeople) return known;
  throw new Error(`${operationId} names deployments, and ${permission} is no permission on deployments`);
}
