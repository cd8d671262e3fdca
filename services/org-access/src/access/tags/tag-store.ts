import type { TaggedResourcesRequest } from '@runyard/contracts';
import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';

const OLDEST_FIRST = [{ createdAt: 'asc' }, { id: 'asc' }] as const;

/** Queries tags, always within one workspace. */
export const tagStore = {
  listKeys: (queries: Queries, tenant: Tenant) =>
    queries.tagKey.findMany({ where: tenant, orderBy: [...OLDEST_FIRST] }),

  listKeysWithValues: (queries: Queries, tenant: Tenant) =>
    queries.tagKey.findMany({
      where: tenant,
      orderBy: [...OLDEST_FIRST],
      include: { values: { orderBy: [...OLDEST_FIRST] } },
    }),

  findKey: (queries: Queries, tenant: Tenant, id: string) => queries.tagKey.findFirst({ where: { ...tenant, id } }),

  listValues: (queries: Queries, tenant: Tenant, tagKeyId: string) =>
    queries.tagValue.findMany({ where: { tagKeyId, key: tenant }, orderBy: [...OLDEST_FIRST] }),

  findValue: (queries: Queries, tenant: Tenant, where: { id: string; tagKeyId?: string }) =>
    queries.tagValue.findFirst({ where: { ...where, key: tenant }, include: { key: true } }),

  listTaggings: (queries: Queries, tenant: Tenant, tagValueId: string) =>
    queries.tagging.findMany({ where: { ...tenant, tagValueId }, orderBy: [...OLDEST_FIRST] }),

  findTagging: (queries: Queries, tenant: Tenant, id: string) =>
    queries.tagging.findFirst({ where: { ...tenant, id }, include: { value: { include: { key: true } } } }),

  /** Lists the tag keys of which a resource has values, with these values. */
  listOfResource(queries: Queries, tenant: Tenant, resource: { resourceType: string; resourceId: string }) {
    const taggings = { some: { ...tenant, ...resource } };
    return queries.tagKey.findMany({
      where: { ...tenant, values: { some: { taggings } } },
      orderBy: [...OLDEST_FIRST],
      include: {
        values: {
          where: { taggings },
          orderBy: [...OLDEST_FIRST],
          include: { taggings: { where: { ...tenant, ...resource } } },
        },
      },
    });
  },

  /** Returns the ids of resources that have, of each tag key among the values, one of the values. */
  async findTagged(queries: Queries, request: TaggedResourcesRequest): Promise<string[]> {
    const [organizationId, workspaceId] = [request.organization_id.toLowerCase(), request.workspace_id.toLowerCase()];
    const ids = [...new Set(request.tag_value_ids.map((id) => id.toLowerCase()))];
    const values = await queries.tagValue.findMany({
      where: { id: { in: ids }, key: { organizationId, workspaceId } },
      select: { tagKeyId: true },
    });
    // Nothing has a tag that does not exist.
    if (values.length < ids.length || ids.length === 0) return [];
    const keys = new Set(values.map(({ tagKeyId }) => tagKeyId)).size;
    const rows = await queries.$queryRaw<{ resource_id: string }[]>`
      SELECT tagging.resource_id::text FROM tagging JOIN tag_value ON tag_value.id = tagging.tag_value_id
      WHERE tagging.organization_id = ${organizationId}::uuid AND tagging.workspace_id = ${workspaceId}::uuid
        AND tagging.resource_type = ${request.resource_type} AND tagging.tag_value_id = ANY(${ids}::uuid[])
      GROUP BY tagging.resource_id HAVING count(DISTINCT tag_value.tag_key_id) = ${keys}`;
    return rows.map((row) => row.resource_id);
  },
};
