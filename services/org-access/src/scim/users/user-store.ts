import type { Queries } from '../../database/database.ts';
import { Prisma, type ScimUser } from '../../generated/client.ts';
import { notUnique } from '../scim-error.ts';
import type { UserColumns } from './scim-user.ts';

export interface GroupOfUser {
  id: string;
  displayName: string;
}

/** Reads users of an organization. */
export const userStore = {
  find(queries: Queries, organizationId: string, id: string): Promise<ScimUser | null> {
    return queries.scimUser.findFirst({ where: { organizationId, id } });
  },

  /** Lists users in the order of their creation. @param condition a condition about `u` */
  async list(
    queries: Queries,
    organizationId: string,
    { condition, offset, count }: { condition: Prisma.Sql | null; offset: number; count: number },
  ): Promise<{ total: number; rows: ScimUser[] }> {
    const where = Prisma.sql`u.organization_id = ${organizationId}::uuid${condition ? Prisma.sql` AND (${condition})` : Prisma.empty}`;
    const [counted] = await queries.$queryRaw<
      { total: bigint }[]
    >`SELECT count(*) AS total FROM scim_user u WHERE ${where}`;
    if (count === 0) return { total: Number(counted!.total), rows: [] };
    const ids = await queries.$queryRaw<{ id: string }[]>`
      SELECT u.id::text FROM scim_user u WHERE ${where} ORDER BY u.created_at, u.id LIMIT ${count} OFFSET ${offset}`;
    const rows = await queries.scimUser.findMany({
      where: { organizationId, id: { in: ids.map(({ id }) => id) } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return { total: Number(counted!.total), rows };
  },

  /** Returns the groups of users by the id of the user. */
  async groupsOf(queries: Queries, userIds: readonly string[]): Promise<Map<string, GroupOfUser[]>> {
    const rows = await queries.scimGroupMember.findMany({
      where: { userId: { in: [...userIds] } },
      select: { userId: true, group: { select: { id: true, displayName: true } } },
      orderBy: { groupId: 'asc' },
    });
    const groups = new Map<string, GroupOfUser[]>();
    for (const { userId, group } of rows) groups.set(userId, [...(groups.get(userId) ?? []), group]);
    return groups;
  },

  /** Refuses names and ids that another user has. @throws ConflictError `uniqueness` */
  async requireUnique(queries: Queries, organizationId: string, user: UserColumns, ownId?: string): Promise<void> {
    const { externalId, userNameKey, email } = user;
    const other = await queries.scimUser.findFirst({
      where: {
        organizationId,
        ...(ownId !== undefined && { id: { not: ownId } }),
        OR: [{ userNameKey }, { email }, ...(externalId === null ? [] : [{ externalId }])],
      },
    });
    if (!other) return;
    if (other.userNameKey === userNameKey) throw notUnique('userName');
    throw notUnique(other.email === email ? 'work address' : 'externalId');
  },
};
