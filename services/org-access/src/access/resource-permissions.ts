import type { Queries } from '../database/database.ts';
import type { Access } from './access.ts';
import { readTags } from './effective-policies.ts';
import { allowablePermissions, concernType, permissionsAfterPolicies } from './policy-decision.ts';
import { isReadPermission } from './read-only.ts';

const DEPLOYMENT_AUDIENCE = 'deployment:';
/** Audiences whose requests are about several deployments. */
const ASKING: ReadonlySet<string> = new Set(['control-plane', 'org-access', 'run-history']);

interface Scope {
  organizationId: string;
  workspaceId: string;
}

/** Claims of a principal token about policies. */
interface PolicyClaims {
  bounded_by_policies?: true;
  permissions_by_policy?: string[];
}

/**
 * Returns the permissions in the workspace for the token of one audience: for a deployment those on that one, after
 * policies. Other services ask about each deployment (`decideAboutDeployments`) when the claims say so.
 *
 * @param isReadOnly true for a key that only reads, whatever a policy allows
 */
export async function permissionsForAudience(
  queries: Queries,
  scope: { organizationId: string; workspaceId: string | null; audience: string },
  access: Access,
  { isReadOnly = false }: { isReadOnly?: boolean } = {},
): Promise<{ workspace: string[]; claims: PolicyClaims }> {
  const { organizationId, workspaceId, audience } = scope;
  const held = access.workspace ?? [];
  const isOfDeployment = audience.startsWith(DEPLOYMENT_AUDIENCE);
  const isConcerned = access.workspace !== null && concernType(access.policies, 'deployment');
  if (!workspaceId || !isConcerned || !(isOfDeployment || ASKING.has(audience))) return { workspace: held, claims: {} };
  const usable = (permissions: readonly string[]) =>
    permissions.filter((each) => !isReadOnly || isReadPermission(each));
  if (!isOfDeployment) {
    const byPolicy = usable(allowablePermissions(access.policies, 'deployment')).filter((each) => !held.includes(each));
    const claims = { bounded_by_policies: true, permissions_by_policy: byPolicy.sort() } as const;
    return { workspace: held, claims };
  }
  const id = audience.slice(DEPLOYMENT_AUDIENCE.length).toLowerCase();
  const permissions = await permissionsOnDeployments(queries, { organizationId, workspaceId }, access, [id]);
  return { workspace: usable(permissions.get(id)!), claims: {} };
}

/** Returns which of the permissions an identity has on each deployment; those without any are left out. */
export async function decideAboutDeployments(
  queries: Queries,
  scope: Scope,
  access: Access,
  question: { deploymentIds: readonly string[]; permissions: readonly string[] },
): Promise<Map<string, string[]>> {
  const permissions = await permissionsOnDeployments(queries, scope, access, question.deploymentIds);
  return new Map(
    [...permissions].flatMap(([id, all]) => {
      const asked = question.permissions.filter((each) => all.includes(each));
      return asked.length === 0 ? [] : [[id, asked] as const];
    }),
  );
}

async function permissionsOnDeployments(
  queries: Queries,
  scope: Scope,
  { workspace, policies }: Access,
  deploymentIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (!workspace) return new Map();
  const tags = await readTags(queries, scope, 'deployment', deploymentIds);
  const resourceType = 'deployment';
  return new Map(
    [...tags].map(([id, own]) => [id, permissionsAfterPolicies(policies, { resourceType, tags: own }, workspace)]),
  );
}
