import { type AccessDecisionRequest, AccessDecisions, type Permission } from '@runyard/contracts';
import { type InternalClient, orUnavailable } from './internal-client.ts';
import { tenantOf } from './permissions.ts';
import type { Principal } from './principal.ts';

/** Deployments of one question. */
const BATCH = 5_000;

/**
 * Asks org-access which of the permissions a caller has on each deployment after access policies; deployments without
 * any are left out. Only callers whom policies concern (`isBoundedByPolicies`) cost this.
 *
 * @throws UnavailableError when org-access cannot be reached
 */
export async function decideOnDeployments(
  orgAccess: Pick<InternalClient, 'ask'>,
  caller: Principal,
  question: { deploymentIds: readonly string[]; permissions: readonly Permission[] },
): Promise<Map<string, string[]>> {
  const { organizationId, workspaceId } = tenantOf(caller);
  // A key that only reads has fewer permissions than its identity, which is all that org-access knows here.
  const usable = new Set([...caller.permissions, ...(caller.permissionsByPolicy ?? [])]);
  const decided = new Map<string, string[]>();
  for (let start = 0; start < question.deploymentIds.length; start += BATCH) {
    const request: AccessDecisionRequest = {
      organization_id: organizationId,
      workspace_id: workspaceId,
      identity_id: caller.identity,
      permissions: [...question.permissions],
      deployment_ids: question.deploymentIds.slice(start, start + BATCH),
    };
    const { decisions } = await orUnavailable(
      orgAccess.ask('/internal/access/decide', request, AccessDecisions),
      'Access policies cannot be read at the moment',
      { code: 'access_policies_unavailable' },
    );
    for (const { deployment_id, permissions } of decisions) {
      decided.set(
        deployment_id,
        permissions.filter((each) => usable.has(each)),
      );
    }
  }
  return decided;
}
