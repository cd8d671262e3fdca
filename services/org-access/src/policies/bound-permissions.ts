import type { Access } from '../access/access.ts';
import type { Queries } from '../database/database.ts';
import { type EffectivePolicy, isLeftByPolicies } from './decide.ts';
import { policyStore } from './policy-store.ts';

const DEPLOYMENT_AUDIENCE = 'deployment:';

interface Scope {
  organizationId: string;
  workspaceId: string;
}

/**
 * Returns the permissions in the workspace that policies leave, and whether other services have to ask about each
 * deployment (`decideAboutDeployments`). A token for one deployment has the permissions on that one.
 */
export async function boundByPolicies(
  queries: Queries,
  scope: { organizationId: string; workspaceId: string | null; audience: string },
  access: Access,
): Promise<{ workspace: string[]; claims: { bounded_by_policies?: true } }> {
  const { organizationId, workspaceId, audience } = scope;
  const workspace = access.workspace ?? [];
  const isOfDeployment = audience.startsWith(DEPLOYMENT_AUDIENCE);
  if (!workspaceId || !access.workspace || !(isOfDeployment || audience === 'control-plane'))
    return { workspace, claims: {} };
  const policies = await policiesOf(queries, organizationId, access);
  if (policies.length === 0) return { workspace, claims: {} };
  if (!isOfDeployment) return { workspace, claims: { bounded_by_policies: true } };
  const id = audience.slice(DEPLOYMENT_AUDIENCE.length).toLowerCase();
  const left = await permissionsLeft(queries, { organizationId, workspaceId }, policies, [id], workspace);
  return { workspace: left.get(id) ?? [], claims: {} };
}

/** Returns which of the permissions policies leave on each deployment; those without any are left out. */
export async function decideAboutDeployments(
  queries: Queries,
  scope: Scope,
  access: Access,
  question: { deploymentIds: readonly string[]; permissions: readonly string[] },
): Promise<Map<string, string[]>> {
  const policies = await policiesOf(queries, scope.organizationId, access);
  const held = question.permissions.filter((each) => access.workspace?.includes(each));
  return permissionsLeft(queries, scope, policies, question.deploymentIds, held);
}

/** Returns the policies about deployments that are attached to the roles of the caller. */
async function policiesOf(queries: Queries, organizationId: string, access: Access): Promise<EffectivePolicy[]> {
  const roleIds = [access.organizationRoleId, ...(access.workspaceRole ? [access.workspaceRole.id] : [])];
  const policies = await policyStore.ofRoles(queries, organizationId, roleIds);
  return policies.filter(({ groups }) => groups.some(({ resource_type }) => resource_type === 'deployment'));
}

async function permissionsLeft(
  queries: Queries,
  scope: Scope,
  policies: readonly EffectivePolicy[],
  deploymentIds: readonly string[],
  permissions: readonly string[],
): Promise<Map<string, string[]>> {
  const tags = await policyStore.tagsOf(queries, scope, deploymentIds);
  return new Map(
    [...tags].flatMap(([id, ofDeployment]) => {
      const left = permissions.filter((permission) =>
        isLeftByPolicies(policies, { permission, resourceType: 'deployment', tags: ofDeployment }),
      );
      return left.length === 0 ? [] : [[id, left] as const];
    }),
  );
}
