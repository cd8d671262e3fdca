import {
  createTagging,
  deleteTagging,
  findTaggedResources,
  listResourceTags,
  listTaggings,
  listTags,
  tagKeyOperations,
  tagValueOperations,
} from '@runyard/contracts';
import { type BoundOperation, bind, ok, tenantOf } from '@runyard/service-kit';
import type { PrismaClient } from '../../generated/client.ts';
import type { TagService } from './tag-service.ts';
import { tagStore } from './tag-store.ts';
import type { TaggingService } from './tagging-service.ts';

export function tagRoutes(parts: {
  prisma: PrismaClient;
  tags: TagService;
  taggings: TaggingService;
}): BoundOperation[] {
  const { prisma, tags, taggings } = parts;
  return [
    bind(tagKeyOperations.list, async ({ caller }) => ok(await tags.listKeys(tenantOf(caller)))),
    bind(tagKeyOperations.create, async ({ caller, body }) => ok(await tags.createKey(caller, body))),
    bind(tagKeyOperations.get, async ({ caller, params }) => ok(await tags.getKey(tenantOf(caller), idOfKey(params)))),
    bind(tagKeyOperations.update, async ({ caller, params, body }) =>
      ok(await tags.updateKey(caller, idOfKey(params), body)),
    ),
    bind(tagKeyOperations.delete, async ({ caller, params }) => ok(await tags.deleteKey(caller, idOfKey(params)))),
    bind(tagValueOperations.list, async ({ caller, params }) =>
      ok(await tags.listValues(tenantOf(caller), idOfKey(params))),
    ),
    bind(tagValueOperations.create, async ({ caller, params, body }) =>
      ok(await tags.createValue(caller, idOfKey(params), body)),
    ),
    bind(tagValueOperations.get, async ({ caller, params }) =>
      ok(await tags.getValue(tenantOf(caller), idOfKey(params), idOfValue(params))),
    ),
    bind(tagValueOperations.update, async ({ caller, params, body }) =>
      ok(await tags.updateValue(caller, idOfKey(params), idOfValue(params), body)),
    ),
    bind(tagValueOperations.delete, async ({ caller, params }) =>
      ok(await tags.deleteValue(caller, idOfKey(params), idOfValue(params))),
    ),
    bind(createTagging, async ({ caller, body }) => ok(await taggings.create(caller, body))),
    bind(listTaggings, async ({ caller, query }) => ok(await taggings.list(caller, query.tag_value_id.toLowerCase()))),
    bind(deleteTagging, async ({ caller, params }) =>
      ok(await taggings.delete(caller, params.tagging_id.toLowerCase())),
    ),
    bind(listTags, async ({ caller }) => ok(await tags.listWithValues(tenantOf(caller)))),
    bind(listResourceTags, async ({ caller, query }) =>
      ok(
        await tags.listOfResource(caller, {
          resourceType: query.resource_type,
          resourceId: query.resource_id.toLowerCase(),
        }),
      ),
    ),
    bind(findTaggedResources, async ({ body }) => ok({ resource_ids: await tagStore.findTagged(prisma, body) })),
  ];
}

const idOfKey = (params: { tag_key_id: string }) => params.tag_key_id.toLowerCase();
const idOfValue = (params: { tag_value_id: string }) => params.tag_value_id.toLowerCase();
