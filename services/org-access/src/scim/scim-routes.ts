import { scimGroupOperations, scimUserOperations, searchScim } from '@runyard/contracts';
import { type BoundOperation, created, noContent, ok, type Reply } from '@runyard/service-kit';
import { discoveryRoutes } from './discovery.ts';
import { findGroupColumn, findUserColumn } from './filter/columns.ts';
import { readGroupChange } from './groups/group-change.ts';
import type { ScimGroupService } from './groups/group-service.ts';
import { readListRequest } from './list-request.ts';
import { readPatch } from './resources/patch-request.ts';
import { readProjection } from './resources/project.ts';
import { GROUP_TYPE, USER_TYPE } from './schemas/resource-type.ts';
import { bindScim, type ScimScope } from './scim-gate.ts';
import { searchAll } from './search-all.ts';
import type { ScimUserService } from './users/user-service.ts';
import { etagOf, requireVersion, unchanged } from './versions.ts';

/** Serves identity providers below `/scim/v2`. */
export function scimRoutes(parts: { users: ScimUserService; groups: ScimGroupService }): BoundOperation[] {
  return [
    ...userRoutes(parts.users),
    ...groupRoutes(parts.groups),
    bindScim(searchScim, async ({ body }, scope) => ok(await searchAll(parts, scope, body))),
    ...discoveryRoutes(),
  ];
}

interface Answer {
  id: string;
  version: number;
  resource: unknown;
}

const withEtag = (answer: Answer): Reply => ok(answer.resource, { etag: etagOf(answer) });
const withLocation = (path: string, { baseUrl }: ScimScope, answer: Answer): Reply =>
  created(answer.resource, { etag: etagOf(answer), location: `${baseUrl}${path}/${answer.id}` });

function userRoutes(users: ScimUserService): BoundOperation[] {
  const { list, search, create, get, replace, patch, delete: remove } = scimUserOperations;
  const type = USER_TYPE;
  return [
    bindScim(list, async ({ query }, scope) =>
      ok(await users.list(scope, readListRequest(type, query, findUserColumn))),
    ),
    bindScim(search, async ({ body }, scope) =>
      ok(await users.list(scope, readListRequest(type, body, findUserColumn))),
    ),
    bindScim(create, async ({ query, body }, scope) =>
      withLocation(type.endpoint, scope, await users.create(scope, body, readProjection(type, query))),
    ),
    bindScim(get, async ({ params, query, headers }, scope) => {
      const answer = await users.get(scope, params.id, readProjection(type, query));
      return unchanged(headers, answer) ?? withEtag(answer);
    }),
    bindScim(replace, async ({ params, query, body, headers }, scope) => {
      const check = (user: { version: number }) => requireVersion(headers, user);
      return withEtag(await users.replace(scope, params.id, body, check, readProjection(type, query)));
    }),
    bindScim(patch, async ({ params, query, body, headers }, scope) => {
      const check = (user: { version: number }) => requireVersion(headers, user);
      return withEtag(await users.patch(scope, params.id, readPatch(body), check, readProjection(type, query)));
    }),
    bindScim(remove, async ({ params, headers }, scope) => {
      await users.delete(scope, params.id, (user) => requireVersion(headers, user));
      return noContent();
    }),
  ];
}

function groupRoutes(groups: ScimGroupService): BoundOperation[] {
  const { list, search, create, get, replace, patch, delete: remove } = scimGroupOperations;
  const type = GROUP_TYPE;
  return [
    bindScim(list, async ({ query }, scope) =>
      ok(await groups.list(scope, readListRequest(type, query, findGroupColumn))),
    ),
    bindScim(search, async ({ body }, scope) =>
      ok(await groups.list(scope, readListRequest(type, body, findGroupColumn))),
    ),
    bindScim(create, async ({ query, body }, scope) =>
      withLocation(type.endpoint, scope, await groups.create(scope, body, readProjection(type, query))),
    ),
    bindScim(get, async ({ params, query, headers }, scope) => {
      const answer = await groups.get(scope, params.id, readProjection(type, query));
      return unchanged(headers, answer) ?? withEtag(answer);
    }),
    bindScim(replace, async ({ params, query, body, headers }, scope) => {
      const check = (group: { version: number }) => requireVersion(headers, group);
      return withEtag(await groups.replace(scope, params.id, body, check, readProjection(type, query)));
    }),
    bindScim(patch, async ({ params, query, body, headers }, scope) => {
      const check = (group: { version: number }) => requireVersion(headers, group);
      const projection = query.attributes || query.excludedAttributes ? readProjection(type, query) : null;
      const answer = await groups.patch(scope, params.id, readGroupChange(readPatch(body)), check, projection);
      return answer.resource === null ? noContent({ etag: etagOf(answer) }) : withEtag(answer);
    }),
    bindScim(remove, async ({ params, headers }, scope) => {
      await groups.delete(scope, params.id, (group) => requireVersion(headers, group));
      return noContent();
    }),
  ];
}
