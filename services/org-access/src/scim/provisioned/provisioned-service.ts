import type { ProvisionedGroup, ProvisionedQuery, ProvisionedUser } from '@runyard/contracts';
import type { Principal } from '@runyard/service-kit';
import { readGroupNameContext } from '../../access/group-grants.ts';
import { rolesOfGroup } from '../../access/group-names.ts';
import { readGrantableRoles } from '../../access/role-authority.ts';
import type { Database } from '../../database/database.ts';
import { escapeLike } from '../../directory/members/like-patterns.ts';
import type { Prisma } from '../../generated/client.ts';

/** One page of a list, and how many there are in all. */
export interface ProvisionedPage<Item> {
  items: Item[];
  total: number;
}

/** Shows members of an organization what identity providers keep in it, and which roles that gives. */
export class ProvisionedService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async listUsers(
    { organizationId }: Principal,
    { q, limit, offset }: ProvisionedQuery,
  ): Promise<ProvisionedPage<ProvisionedUser>> {
    const { prisma } = this.#database;
    const where: Prisma.ScimUserWhereInput = {
      organizationId,
      ...(q && { OR: [contains('userName', q), contains('email', q)] }),
    };
    const total = await prisma.scimUser.count({ where });
    const users = await prisma.scimUser.findMany({
      where,
      orderBy: [{ email: 'asc' }, { id: 'asc' }],
      take: limit,
      skip: offset,
      include: {
        identity: {
          include: {
            person: true,
            organizationRole: true,
            members: {
              include: { workspace: true, role: true },
              orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }],
            },
          },
        },
        groups: { include: { group: true }, orderBy: { createdAt: 'asc' } },
      },
    });
    const items = users.map(({ identity, groups, ...user }) => ({
      id: user.id,
      identity_id: identity.id,
      user_name: user.userName,
      external_id: user.externalId,
      email: user.email,
      display_name: identity.person?.fullName ?? user.email,
      is_active: user.isActive,
      is_disabled: identity.disabledAt !== null,
      role_id: identity.organizationRole.id,
      role_name: identity.organizationRole.displayName,
      workspaces: identity.members
        .filter(({ workspace }) => workspace.deletedAt === null)
        .map(({ workspace, role }) => ({
          workspace_id: workspace.id,
          workspace_name: workspace.displayName,
          role_id: role.id,
          role_name: role.displayName,
        })),
      groups: groups.map(({ group }) => group.displayName),
      created_at: user.createdAt.toISOString(),
      updated_at: user.updatedAt.toISOString(),
    }));
    return { items, total };
  }

  async listGroups(
    { organizationId }: Principal,
    { q, limit, offset }: ProvisionedQuery,
  ): Promise<ProvisionedPage<ProvisionedGroup>> {
    const { prisma } = this.#database;
    const where: Prisma.ScimGroupWhereInput = { organizationId, ...(q && contains('displayName', q)) };
    const total = await prisma.scimGroup.count({ where });
    const groups = await prisma.scimGroup.findMany({
      where,
      orderBy: [{ displayName: 'asc' }, { id: 'asc' }],
      take: limit,
      skip: offset,
      include: { _count: { select: { members: true } } },
    });
    const context = await readGroupNameContext(prisma, organizationId);
    const roles = await readGrantableRoles(prisma, organizationId);
    const workspaceNames = new Map(context.workspaces.map(({ id, displayName }) => [id, displayName]));
    const items = groups.map((group) => ({
      id: group.id,
      display_name: group.displayName,
      external_id: group.externalId,
      member_count: group._count.members,
      roles: rolesOfGroup(group.displayName, context).map(({ workspaceId, roleId }) => ({
        workspace_id: workspaceId,
        workspace_name: workspaceId && (workspaceNames.get(workspaceId) ?? ''),
        role_id: roleId,
        role_name: roles.get(roleId)?.displayName ?? '',
      })),
      created_at: group.createdAt.toISOString(),
    }));
    return { items, total };
  }
}

function contains<Field extends string>(field: Field, text: string) {
  const filter = { contains: escapeLike(text), mode: 'insensitive' as const };
  return { [field]: filter } as Record<Field, typeof filter>;
}
