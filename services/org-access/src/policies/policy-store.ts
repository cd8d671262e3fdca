import type { PolicyConditionGroup } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import type { EffectivePolicy, Tags } from './decide.ts';

const RELATIONS = {
  roles: { select: { roleId: true }, orderBy: { roleId: 'asc' } },
} satisfies Prisma.AccessPolicyInclude;

export type StoredPolicy = Prisma.AccessPolicyGetPayload<{ include: typeof RELATIONS }>;

/** Queries the access policies of one organization. */
export const policyStore = {
  list(queries: Queries, organizationId: string): Promise<StoredPolicy[]> {
    return queries.accessPolicy.findMany({
      where: { organizationId },
      include: RELATIONS,
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  },

  find(queries: Queries, organizationId: string, id: string): Promise<StoredPolicy | null> {
    return queries.accessPolicy.findFirst({ where: { organizationId, id }, include: RELATIONS });
  },

  /** Returns the policies that are attached to any of these roles. */
  async ofRoles(queries: Queries, organizationId: string, roleIds: readonly string[]): Promise<EffectivePolicy[]> {
    const rows = await queries.accessPolicy.findMany({
      where: { organizationId, roles: { some: { organizationId, roleId: { in: [...roleIds] } } } },
      select: { effect: true, conditionGroups: true },
    });
    return rows.map(({ effect, conditionGroups }) => ({
      effect: effect as EffectivePolicy['effect'],
      groups: conditionGroups as unknown as PolicyConditionGroup[],
    }));
  },

  /** Returns the tags of deployments, by their ids. */
  async tagsOf(
    queries: Queries,
    { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
    deploymentIds: readonly string[],
  ): Promise<Map<string, Tags>> {
    const rows = await queries.tagging.findMany({
      where: { organizationId, workspaceId, resourceType: 'deployment', resourceId: { in: [...deploymentIds] } },
      select: { resourceId: true, value: { select: { value: true, key: { select: { key: true } } } } },
    });
    const tags = new Map<string, Map<string, Set<string>>>(deploymentIds.map((id) => [id, new Map()]));
    for (const { resourceId, value } of rows) {
      const ofResource = tags.get(resourceId);
      const values = ofResource?.get(value.key.key) ?? new Set();
      ofResource?.set(value.key.key, values.add(value.value));
    }
    return tags;
  },
};
