import type { PolicyConditionGroup } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import { withEffect } from './permissions-with-effect.ts';
import { concernType, type EffectivePolicy, permissionsAfterPolicies, type Tags } from './policy-decision.ts';

export interface AttachedPolicy extends EffectivePolicy {
  roleIds: string[];
}

/** Returns the policies that are attached to any of these roles, and to which, in the order in which they were made. */
export async function readPoliciesOfRoles(
  queries: Queries,
  organizationId: string,
  roleIds: readonly string[],
): Promise<AttachedPolicy[]> {
  const rows = await queries.accessPolicy.findMany({
    where: { organizationId, roles: { some: { organizationId, roleId: { in: [...roleIds] } } } },
    select: {
      id: true,
      name: true,
      effect: true,
      conditionGroups: true,
      roles: { where: { organizationId }, select: { roleId: true } },
    },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return rows.map(({ id, name, effect, conditionGroups, roles }) => ({
    id,
    name,
    effect: effect as EffectivePolicy['effect'],
    groups: conditionGroups as unknown as PolicyConditionGroup[],
    roleIds: roles.map(({ roleId }) => roleId),
  }));
}

/** A workspace with the role that an identity has there, and the policies that concern it. */
export interface WorkspaceWithPolicies {
  workspaceId: string;
  permissions: readonly string[];
  policies: readonly EffectivePolicy[];
}

/** Returns the permissions in workspaces after policies about these, by their ids; one query reads the tags of all. */
export async function permissionsInWorkspaces(
  queries: Queries,
  organizationId: string,
  workspaces: readonly WorkspaceWithPolicies[],
): Promise<Map<string, string[]>> {
  const concerned = workspaces.filter(({ policies }) => concernType(policies, 'workspace'));
  const workspaceIds = concerned.map(({ workspaceId }) => workspaceId);
  const tags = await readTagsIn(queries, { organizationId, workspaceIds }, 'workspace', workspaceIds);
  return new Map(
    workspaces.map(({ workspaceId, policies, permissions: ofRole }) => {
      const permissions = withEffect(ofRole);
      const own = tags(workspaceId, workspaceId);
      const resource = own && ({ resourceType: 'workspace', tags: own } as const);
      return [workspaceId, resource ? permissionsAfterPolicies(policies, resource, permissions) : permissions];
    }),
  );
}

/** Returns the tags that resources of one type have in a workspace, by their ids: an empty map for untagged ones. */
export async function readTags(
  queries: Queries,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
  resourceType: PolicyConditionGroup['resource_type'],
  resourceIds: readonly string[],
): Promise<Map<string, Tags>> {
  const tags = await readTagsIn(queries, { organizationId, workspaceIds: [workspaceId] }, resourceType, resourceIds);
  return new Map(resourceIds.map((id) => [id, tags(workspaceId, id)!]));
}

/**
 * Reads the tags that resources have in each of some workspaces, in one query.
 *
 * @returns a function that finds them by workspace and resource: undefined for a workspace that was not asked about
 */
export async function readTagsIn(
  queries: Queries,
  { organizationId, workspaceIds }: { organizationId: string; workspaceIds: readonly string[] },
  resourceType: PolicyConditionGroup['resource_type'],
  resourceIds: readonly string[],
): Promise<(workspaceId: string, resourceId: string) => Tags | undefined> {
  if (workspaceIds.length === 0) return () => undefined;
  const rows = await queries.tagging.findMany({
    where: {
      organizationId,
      workspaceId: { in: [...workspaceIds] },
      resourceType,
      resourceId: { in: [...resourceIds] },
    },
    select: { workspaceId: true, resourceId: true, value: { select: { value: true, key: { select: { key: true } } } } },
  });
  const tags = new Map<string, Map<string, Set<string>>>();
  for (const { workspaceId, resourceId, value } of rows) {
    const place = `${workspaceId} ${resourceId}`;
    const ofResource = tags.get(place) ?? new Map<string, Set<string>>();
    tags.set(place, ofResource);
    ofResource.set(value.key.key, (ofResource.get(value.key.key) ?? new Set()).add(value.value));
  }
  const asked = new Set(workspaceIds);
  return (workspaceId, resourceId) =>
    asked.has(workspaceId) ? (tags.get(`${workspaceId} ${resourceId}`) ?? NO_TAGS) : undefined;
}

const NO_TAGS: Tags = new Map();
