import type { AccessExplanation } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Access } from './access.ts';
import { readTags } from './effective-policies.ts';
import type { Place } from './explain-access.ts';
import {
  decideByPolicies,
  type EffectivePolicy,
  type PolicyDecision,
  permissionsAfterPolicies,
} from './policy-decision.ts';

/** A resource whose tags policies may match. */
type ExplainedResource = NonNullable<AccessExplanation['policy']>['resource'];

export interface ExplainedPermission {
  isPermitted: boolean;
  /** Null when the role decides. */
  decision: PolicyDecision | null;
  /** Policies of the roles that would allow the permission on a resource with other tags. */
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
  const concerning = (isOf: (type: string) => boolean) =>
    access.policies.filter(({ groups }) =>
      groups.some((group) => isOf(group.resource_type) && group.permission === permission),
    );
  const byRole = { isPermitted: held.includes(permission), decision: null, otherwiseAllowing: [] };
  if (place.type === 'organization') return { ...byRole, dependsOnTags: false };
  const asked = resource ?? { type: 'workspace' as const, id: place.id };
  const dependsOnTags = !resource && concerning((type) => DECIDED_BELOW.has(type)).length > 0;
  if (asked.type === 'workspace' && !permission.startsWith('workspaces:')) return { ...byRole, dependsOnTags };
  const scope = { organizationId, workspaceId: place.id };
  const tags = (await readTags(queries, scope, asked.type, [asked.id])).get(asked.id)!;
  // The permissions in the workspace come after the policies about it.
  const left = permissionsAfterPolicies(access.policies, { resourceType: asked.type, tags }, held);
  return {
    isPermitted: access.workspace !== null && left.includes(permission),
    decision: decideByPolicies(access.policies, { permission, resourceType: asked.type, tags }),
    otherwiseAllowing: concerning((type) => type === asked.type).filter(({ effect }) => effect === 'allow'),
    dependsOnTags,
  };
}

/** Types of resources in a workspace. */
const DECIDED_BELOW: ReadonlySet<string> = new Set(['deployment', 'service_key']);

/** The place whose role decides, and the resource in it that is asked about; null: the place itself. */
export interface ExplainedPlace {
  place: Place;
  resource: ExplainedResource | null;
}

export function renderDecision(
  decision: PolicyDecision | null,
  { place, resource }: ExplainedPlace,
): AccessExplanation['policy'] {
  if (!decision) return null;
  const { effect, policies } = decision;
  const matched = resource ?? { type: 'workspace', id: place.id };
  return { effect, policies: policies.map(({ id, name }) => ({ id, name })), resource: matched };
}
