import type { AccessExplanation } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Access } from './access.ts';
import { readTags } from './effective-policies.ts';
import type { Place } from './explain-access.ts';
import { decideByPolicies, type EffectivePolicy, type PolicyDecision } from './policy-decision.ts';
import { permissionsOnDeployments } from './resource-permissions.ts';

/** A deployment that an explanation is about. */
export interface ExplainedResource {
  type: 'deployment';
  id: string;
}

export interface ExplainedPermission {
  isPermitted: boolean;
  /** Null when the role decides. */
  decision: PolicyDecision | null;
  /** Policies of the roles that would allow the permission on a deployment with other tags. */
  otherwiseAllowing: EffectivePolicy[];
  dependsOnTags: boolean;
}

/** Finds whether an identity has a permission, by the function of the check, and the policies that decide. */
export async function explainPermission(
  queries: Queries,
  access: Access,
  { organizationId, place, resource, permission }: ExplainedPlace & { organizationId: string; permission: string },
): Promise<ExplainedPermission> {
  const held = place.type === 'organization' ? access.organization : (access.workspace ?? []);
  const concerning = access.policies.filter(({ groups }) =>
    groups.some((group) => group.resource_type === 'deployment' && group.permission === permission),
  );
  if (!resource) {
    const dependsOnTags = place.type === 'workspace' && concerning.length > 0;
    return { isPermitted: held.includes(permission), decision: null, otherwiseAllowing: [], dependsOnTags };
  }
  const scope = { organizationId, workspaceId: place.id };
  const permissions = await permissionsOnDeployments(queries, scope, access, [resource.id]);
  const tags = (await readTags(queries, scope, 'deployment', [resource.id])).get(resource.id)!;
  return {
    isPermitted: permissions.get(resource.id)?.includes(permission) ?? false,
    decision: decideByPolicies(access.policies, { permission, resourceType: 'deployment', tags }),
    otherwiseAllowing: concerning.filter(({ effect }) => effect === 'allow'),
    dependsOnTags: false,
  };
}

/** The place whose role decides, and the deployment in it whose tags policies may match. */
export interface ExplainedPlace {
  place: Place;
  resource: ExplainedResource | null;
}

export function renderDecision(
  decision: PolicyDecision | null,
  resource: ExplainedResource | null,
): AccessExplanation['policy'] {
  if (!decision || !resource) return null;
  const { effect, policies } = decision;
  return { effect, policies: policies.map(({ id, name }) => ({ id, name })), resource };
}
