import { isDeepStrictEqual } from 'node:util';
import { isUuid } from '@runyard/contracts';
import { NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Database, Queries } from '../../database/database.ts';
import { removeMember } from '../../directory/members/remove-member.ts';
import type { Prisma, ScimUser } from '../../generated/client.ts';
import { type ListRequest, listResponse } from '../list-request.ts';
import { applyPatch } from '../resources/apply-patch.ts';
import type { ScimObject } from '../resources/normalize.ts';
import type { PatchOperation } from '../resources/patch-request.ts';
import { isWanted, type Projection, project } from '../resources/project.ts';
import { USER_TYPE } from '../schemas/resource-type.ts';
import type { ScimScope } from '../scim-gate.ts';
import { changeDirectory, type ScimAnswer, type ScimResources, type VersionCheck } from '../scim-resources.ts';
import { deactivate, reactivate } from './activation.ts';
import { findOrProvision, updatePerson } from './person-of-user.ts';
import { displayNameOf, readUser, renderUser, toColumns, toResource, type UserColumns } from './scim-user.ts';
import { userStore } from './user-store.ts';

/** Keeps users as an identity provider says. */
export class ScimUserService implements ScimResources {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(scope: ScimScope, { condition, startIndex, count, projection }: ListRequest): Promise<ScimObject> {
    const { prisma } = this.#database;
    const page = { condition, offset: startIndex - 1, count };
    const { total, rows } = await userStore.list(prisma, scope.organizationId, page);
    const resources = await render(prisma, scope, rows, projection);
    return listResponse({ total, startIndex, resources });
  }

  async get(scope: ScimScope, id: string, projection: Projection): Promise<ScimAnswer> {
    const user = await requireUser(this.#database.prisma, scope, id);
    return answer(this.#database.prisma, scope, user, projection);
  }

  async create(scope: ScimScope, body: ScimObject, projection: Projection): Promise<ScimAnswer> {
    const columns = readUser(body);
    const { organizationId } = scope;
    return changeDirectory(this.#database, organizationId, async (transaction, audit) => {
      await userStore.requireUnique(transaction, organizationId, columns);
      const identityId = await findOrProvision(transaction, audit, organizationId, columns);
      const user = await transaction.scimUser.create({
        data: { ...toData(columns), id: uuidv7(), organizationId, identityId },
      });
      if (!columns.isActive) await deactivate(transaction, organizationId, identityId);
      audit.record(organizationId, {
        action: 'scim_user.created',
        resourceType: 'scim_user',
        resourceId: user.id,
        after: describe(user),
      });
      return answer(transaction, scope, user, projection);
    });
  }

  replace(
    scope: ScimScope,
    id: string,
    body: ScimObject,
    check: VersionCheck,
    projection: Projection,
  ): Promise<ScimAnswer> {
    const columns = readUser(body);
    return this.#update(scope, id, () => columns, check, projection);
  }

  patch(
    scope: ScimScope,
    id: string,
    operations: readonly PatchOperation[],
    check: VersionCheck,
    projection: Projection | null,
  ): Promise<ScimAnswer> {
    const change = (user: ScimUser) => {
      const resource = toResource({ ...user, attributes: user.attributes as ScimObject });
      return toColumns(applyPatch(USER_TYPE, resource, operations));
    };
    return this.#update(scope, id, change, check, projection);
  }

  /** Removes the member too. */
  async delete(scope: ScimScope, id: string, check: VersionCheck): Promise<void> {
    const { organizationId } = scope;
    await changeDirectory(this.#database, organizationId, async (transaction, audit) => {
      const user = await requireUser(transaction, scope, id);
      check(user);
      await transaction.scimGroup.updateMany({
        where: { organizationId, members: { some: { userId: id } } },
        data: { version: { increment: 1 } },
      });
      const identity = await transaction.identity.findFirstOrThrow({ where: { organizationId, id: user.identityId } });
      await removeMember(transaction, audit, identity);
      audit.record(organizationId, {
        action: 'scim_user.deleted',
        resourceType: 'scim_user',
        resourceId: id,
        before: describe(user),
      });
    });
  }

  #update(
    scope: ScimScope,
    id: string,
    change: (user: ScimUser) => UserColumns,
    check: VersionCheck,
    projection: Projection | null,
  ): Promise<ScimAnswer> {
    const { organizationId } = scope;
    return changeDirectory(this.#database, organizationId, async (transaction, audit) => {
      const before = await requireUser(transaction, scope, id);
      check(before);
      const columns = change(before);
      if (isSame(before, columns)) return answer(transaction, scope, before, projection);
      await userStore.requireUnique(transaction, organizationId, columns, id);
      const after = await transaction.scimUser.update({
        where: { id },
        data: { ...toData(columns), version: { increment: 1 } },
      });
      await updatePerson(transaction, after, columns);
      if (before.isActive && !after.isActive) await deactivate(transaction, organizationId, after.identityId);
      if (!before.isActive && after.isActive) await reactivate(transaction, organizationId, after.identityId);
      audit.record(organizationId, {
        action: 'scim_user.updated',
        resourceType: 'scim_user',
        resourceId: id,
        before: describe(before),
        after: describe(after),
      });
      return answer(transaction, scope, after, projection);
    });
  }
}

async function requireUser(queries: Queries, { organizationId }: ScimScope, id: string): Promise<ScimUser> {
  const user = isUuid(id) ? await userStore.find(queries, organizationId, id) : null;
  if (!user) throw new NotFoundError('User not found');
  return user;
}

async function answer(
  queries: Queries,
  scope: ScimScope,
  user: ScimUser,
  projection: Projection | null,
): Promise<ScimAnswer> {
  const { id, version } = user;
  if (projection === null) return { id, version, resource: null };
  const [resource] = await render(queries, scope, [user], projection);
  return { id, version, resource: resource! };
}

async function render(
  queries: Queries,
  scope: ScimScope,
  users: readonly ScimUser[],
  projection: Projection,
): Promise<ScimObject[]> {
  const areGroupsWanted = users.length > 0 && isWanted(projection, 'groups');
  const groups = areGroupsWanted
    ? await userStore.groupsOf(
        queries,
        users.map(({ id }) => id),
      )
    : undefined;
  return users.map((user) => project(USER_TYPE, projection, renderUser(user, groups?.get(user.id), scope)));
}

function toData({ attributes, ...columns }: UserColumns) {
  return { ...columns, attributes: attributes as Prisma.InputJsonObject };
}

function isSame(user: ScimUser, columns: UserColumns): boolean {
  const { externalId, userName, userNameKey, email, isActive, attributes } = user;
  return isDeepStrictEqual({ externalId, userName, userNameKey, email, isActive, attributes }, columns);
}

/** Says in the audit trail what decides about a user's rights, and who it is. */
function describe({ externalId, userName, email, isActive, identityId, attributes }: ScimUser) {
  const name = displayNameOf({ userName, attributes: attributes as ScimObject });
  return { externalId, userName, email, name, isActive, identityId };
}
