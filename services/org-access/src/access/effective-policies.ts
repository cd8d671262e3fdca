import type { PolicyConditionGroup } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { EffectivePolicy, Tags } from './policy-decision.ts';

/** Returns the policies that are attached to any of these roles, in the order in which they were made. */
export async function readPoliciesOfRoles(
  queries: Queries,
  organizationId: string,
  roleIds: readonly string[],
): Promise<EffectivePolicy[]> {
  const rows = await queries.accessPolicy.findMany({
    where: { organizationId, roles: { some: { organizationId, roleId: { in: [...roleIds] } } } },
    select: { id: true, name: true, effect: true, conditionGroups: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(({ id, name, effect, conditionGroups }) => ({
    id,
    name,
    effect: effect as EffectivePolicy['effect'],
    groups: conditionGroups as unknown as PolicyConditionGroup[],
  }));
}

/** Returns the tags that resources of one type have in a workspace, by their ids: an empty map for untagged ones. */
export async function readTags(
  queries: Queries,
  scope: { organizationId: string; workspaceId: string },
  resourceType: PolicyConditionGroup['resource_type'],
  resourceIds: readonly string[],
): Promise<Map<string, Tags>> {
  const { organizationId, workspaceId } = scope;
  const rows = await queries.tagging.findMany({
    where: { organizationId, workspaceId, resourceType, resourceId: { in: [...resourceIds] } },
    select: { resourceId: true, value: { select: { value: true, key: { select: { key: true } } } } },
  });
  const tags = new Map<string, Map<string, Set<string>>>(resourceIds.map((id) => [id, new Map()]));
  for (const { resourceId, value } of rows) {
    const ofResource = tags.get(resourceId);
    const values = ofResource?.get(value.key.key) ?? new Set();
    ofResource?.set(value.key.key, values.add(value.value));
  }
  return tags;
}
