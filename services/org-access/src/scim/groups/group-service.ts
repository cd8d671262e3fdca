import { isUuid } from '@runyard/contracts';
import { NotFoundError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { applyGroupGrants } from '../../access/group-grants.ts';
import type { Database, Queries } from '../../database/database.ts';
import type { Prisma, ScimGroup } from '../../generated/client.ts';
import { type ListRequest, listResponse } from '../list-request.ts';
import type { ScimObject } from '../resources/normalize.ts';
import type { PatchOperation } from '../resources/patch-request.ts';
import { isWanted, type Projection, project } from '../resources/project.ts';
import { GROUP_TYPE } from '../schemas/resource-type.ts';
import { badRequest, notUnique } from '../scim-error.ts';
import type { ScimScope } from '../scim-gate.ts';
import { changeDirectory, type ScimAnswer, type ScimResources, type VersionCheck } from '../scim-resources.ts';
import { type GroupChange, readGroupChange } from './group-change.ts';
import { groupStore } from './group-store.ts';
import { readGroup, renderGroup } from './scim-group.ts';

/** Keeps groups as an identity provider says, and gives their members the roles that the names say. */
export class ScimGroupService implements ScimResources {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(scope: ScimScope, { condition, startIndex, count, projection }: ListRequest): Promise<ScimObject> {
    const { prisma } = this.#database;
    const areMembersWanted = isWanted(projection, 'members');
    const page = { condition, offset: startIndex - 1, count, areMembersWanted };
    const { total, rows } = await groupStore.list(prisma, scope.organizationId, page);
    return listResponse({ total, startIndex, resources: await render(prisma, scope, rows, projection) });
  }

  async get(scope: ScimScope, id: string, projection: Projection): Promise<ScimAnswer> {
    const group = await requireGroup(this.#database.prisma, scope, id);
    return answer(this.#database.prisma, scope, group, projection);
  }

  async create(scope: ScimScope, body: ScimObject, projection: Projection): Promise<ScimAnswer> {
    const { displayName, externalId, memberIds } = readGroup(body);
    const { organizationId } = scope;
    return changeDirectory(this.#database, organizationId, async (transaction, audit) => {
      if (await groupStore.isTaken(transaction, organizationId, displayName)) throw notUnique('displayName');
      const group = await transaction.scimGroup.create({
        data: { id: uuidv7(), organizationId, displayName, externalId },
      });
      const change = { areOthersRemoved: false, added: new Set(memberIds), removed: new Set<string>() };
      const { joined } = await changeMembers(transaction, group, change);
      audit.record(organizationId, {
        action: 'scim_group.created',
        resourceType: 'scim_group',
        resourceId: group.id,
        after: { displayName, externalId, members: joined },
      });
      return answer(transaction, scope, group, projection);
    });
  }

  replace(
    scope: ScimScope,
    id: string,
    body: ScimObject,
    check: VersionCheck,
    projection: Projection,
  ): Promise<ScimAnswer> {
    const { displayName, externalId, memberIds } = readGroup(body);
    const added = new Set(memberIds);
    return this.#update(
      scope,
      id,
      { displayName, externalId, areOthersRemoved: true, added, removed: new Set() },
      check,
      projection,
    );
  }

  /** A change of the name is refused: `mutability`. */
  patch(
    scope: ScimScope,
    id: string,
    operations: readonly PatchOperation[],
    check: VersionCheck,
    projection: Projection | null,
  ): Promise<ScimAnswer> {
    return this.#update(scope, id, readGroupChange(operations), check, projection);
  }

  /** Deletes a group; its members keep what their other groups give. */
  async delete(scope: ScimScope, id: string, check: VersionCheck): Promise<void> {
    const { organizationId } = scope;
    await changeDirectory(this.#database, organizationId, async (transaction, audit) => {
      const group = await requireGroup(transaction, scope, id);
      check(group);
      const change = { areOthersRemoved: true, added: new Set<string>(), removed: new Set<string>() };
      const { left } = await changeMembers(transaction, group, change);
      await transaction.scimGroup.delete({ where: { id } });
      audit.record(organizationId, {
        action: 'scim_group.deleted',
        resourceType: 'scim_group',
        resourceId: id,
        before: { displayName: group.displayName, externalId: group.externalId, members: left },
      });
    });
  }

  #update(
    scope: ScimScope,
    id: string,
    change: GroupChange,
    check: VersionCheck,
    projection: Projection | null,
  ): Promise<ScimAnswer> {
    const { organizationId } = scope;
    return changeDirectory(this.#database, organizationId, async (transaction, audit) => {
      const before = await requireGroup(transaction, scope, id);
      check(before);
      if (change.displayName !== undefined && change.displayName !== before.displayName) {
        throw badRequest('mutability', 'The name of a group says what its roles are, and never changes');
      }
      const externalId = change.externalId === undefined ? before.externalId : change.externalId;
      const { joined, left } = await changeMembers(transaction, before, change);
      if (joined.length + left.length === 0 && externalId === before.externalId)
        return answer(transaction, scope, before, projection);
      const after = await transaction.scimGroup.update({
        where: { id },
        data: { externalId, version: { increment: 1 } },
      });
      audit.record(organizationId, {
        action: 'scim_group.updated',
        resourceType: 'scim_group',
        resourceId: id,
        before: { externalId: before.externalId },
        after: { externalId },
        details: { displayName: after.displayName, joined, left },
      });
      return answer(transaction, scope, after, projection);
    });
  }
}

/** Changes the members, and what follows from it for their roles and versions. */
async function changeMembers(
  transaction: Prisma.TransactionClient,
  group: ScimGroup,
  change: Pick<GroupChange, 'areOthersRemoved' | 'added' | 'removed'>,
): Promise<{ joined: string[]; left: string[] }> {
  const { joined, left } = await groupStore.changeMembers(transaction, group, change);
  const userIds = [...joined, ...left];
  if (userIds.length > 0) {
    await groupStore.touchUsers(transaction, group.organizationId, userIds);
    await applyGroupGrants(transaction, group.organizationId, { groupIds: [group.id], userIds });
  }
  return { joined, left };
}

async function requireGroup(queries: Queries, { organizationId }: ScimScope, id: string): Promise<ScimGroup> {
  const group = isUuid(id) ? await groupStore.find(queries, organizationId, id) : null;
  if (!group) throw new NotFoundError('Group not found');
  return group;
}

async function answer(
  queries: Queries,
  scope: ScimScope,
  group: ScimGroup,
  projection: Projection | null,
): Promise<ScimAnswer> {
  const { id, version } = group;
  if (projection === null) return { id, version, resource: null };
  const [resource] = await render(queries, scope, [group], projection);
  return { id, version, resource: resource! };
}

async function render(
  queries: Queries,
  scope: ScimScope,
  groups: readonly ScimGroup[],
  projection: Projection,
): Promise<ScimObject[]> {
  const areMembersWanted = groups.length > 0 && isWanted(projection, 'members');
  const ids = groups.map(({ id }) => id);
  const members = areMembersWanted ? await groupStore.membersOf(queries, ids) : undefined;
  return groups.map((group) => project(GROUP_TYPE, projection, renderGroup(group, members?.get(group.id), scope)));
}
