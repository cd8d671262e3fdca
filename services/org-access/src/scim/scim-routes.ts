import { scimGroupOperations, scimUserOperations, searchScim } from '@runyard/contracts';
import { type BoundOperation, created, noContent, ok, type Reply } from '@runyard/service-kit';
import { discoveryRoutes } from './discovery.ts';
import { findGroupColumn, findUserColumn } from './filter/columns.ts';
import type { ColumnFinder } from './filter/filter-sql.ts';
import { readListRequest } from './list-request.ts';
import { readPatch } from './resources/patch-request.ts';
import { readProjection } from './resources/project.ts';
import { GROUP_TYPE, type ResourceType, USER_TYPE } from './schemas/resource-type.ts';
import { bindScim } from './scim-gate.ts';
import type { ScimAnswer, ScimResources } from './scim-resources.ts';
import { searchAll } from './search-all.ts';
import { etagOf, requireVersion, unchanged } from './versions.ts';

/** Serves identity providers below `/scim/v2`. */
export function scimRoutes(parts: { users: ScimResources; groups: ScimResources }): BoundOperation[] {
  return [
    ...resourceRoutes({
      type: USER_TYPE,
      operations: scimUserOperations,
      findColumn: findUserColumn,
      resources: parts.users,
      isPatchAnswered: () => true,
    }),
    ...resourceRoutes({
      type: GROUP_TYPE,
      operations: scimGroupOperations,
      findColumn: findGroupColumn,
      resources: parts.groups,
      // To answer every member would cost the more the larger the group is.
      isPatchAnswered: ({ attributes, excludedAttributes }) => Boolean(attributes || excludedAttributes),
    }),
    bindScim(searchScim, async ({ body }, scope) => ok(await searchAll(parts, scope, body))),
    ...discoveryRoutes(),
  ];
}

function withEtag(answer: ScimAnswer): Reply {
  const headers = { etag: etagOf(answer) };
  return answer.resource === null ? noContent(headers) : ok(answer.resource, headers);
}

function resourceRoutes({
  type,
  operations,
  findColumn,
  resources,
  isPatchAnswered,
}: {
  type: ResourceType;
  operations: typeof scimUserOperations | typeof scimGroupOperations;
  findColumn: ColumnFinder;
  resources: ScimResources;
  isPatchAnswered: (query: { attributes?: string; excludedAttributes?: string }) => boolean;
}): BoundOperation[] {
  return [
    bindScim(operations.list, async ({ query }, scope) =>
      ok(await resources.list(scope, readListRequest(type, query, findColumn))),
    ),
    bindScim(operations.search, async ({ body }, scope) =>
      ok(await resources.list(scope, readListRequest(type, body, findColumn))),
    ),
    bindScim(operations.create, async ({ query, body }, scope) => {
      const answer = await resources.create(scope, body, readProjection(type, query));
      const location = `${scope.baseUrl}${type.endpoint}/${answer.id}`;
      return created(answer.resource, { etag: etagOf(answer), location });
    }),
    bindScim(operations.get, async ({ params, query, headers }, scope) => {
      const answer = await resources.get(scope, params.id, readProjection(type, query));
      return unchanged(headers, answer) ?? withEtag(answer);
    }),
    bindScim(operations.replace, async ({ params, query, body, headers }, scope) => {
      const check = (resource: { version: number }) => requireVersion(headers, resource);
      return withEtag(await resources.replace(scope, params.id, body, check, readProjection(type, query)));
    }),
    bindScim(operations.patch, async ({ params, query, body, headers }, scope) => {
      const check = (resource: { version: number }) => requireVersion(headers, resource);
      const projection = isPatchAnswered(query) ? readProjection(type, query) : null;
      return withEtag(await resources.patch(scope, params.id, readPatch(body), check, projection));
    }),
    bindScim(operations.delete, async ({ params, headers }, scope) => {
      await resources.delete(scope, params.id, (resource) => requireVersion(headers, resource));
      return noContent();
    }),
  ];
}
