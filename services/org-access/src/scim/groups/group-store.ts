import type { Queries } from '../../database/database.ts';
import { Prisma, type ScimGroup } from '../../generated/client.ts';
import { badRequest } from '../scim-error.ts';
import type { GroupChange } from './group-change.ts';
import { onlyUuids } from './scim-group.ts';

/** Members of one page; a page ends early when its groups have more. At least one group is answered. */
const MEMBERS_OF_PAGE_MAX = 50_000;

/** Reads and changes groups of an organization. */
export const groupStore = {
  find(queries: Queries, organizationId: string, id: string): Promise<ScimGroup | null> {
    return queries.scimGroup.findFirst({ where: { organizationId, id } });
  },

  /** Returns whether another group has this name, in any case of letters. */
  async isTaken(queries: Queries, organizationId: string, displayName: string): Promise<boolean> {
    const rows = await queries.$queryRaw<unknown[]>`
      SELECT id FROM scim_group
      WHERE organization_id = ${organizationId}::uuid AND lower(display_name) = lower(${displayName}) LIMIT 1`;
    return rows.length > 0;
  },

  /**
   * Lists groups in the order of their creation.
   *
   * @param page.condition a condition about `g`
   * @param page.areMembersWanted makes the page end before it has too many members
   */
  async list(
    queries: Queries,
    organizationId: string,
    page: { condition: Prisma.Sql | null; offset: number; count: number; areMembersWanted: boolean },
  ): Promise<{ total: number; rows: ScimGroup[] }> {
    const { condition, offset, count } = page;
    const where = Prisma.sql`g.organization_id = ${organizationId}::uuid${condition ? Prisma.sql` AND (${condition})` : Prisma.empty}`;
    const [counted] = await queries.$queryRaw<
      { total: bigint }[]
    >`SELECT count(*) AS total FROM scim_group g WHERE ${where}`;
    const total = Number(counted!.total);
    if (count === 0) return { total, rows: [] };
    const found = await queries.$queryRaw<{ id: string; members: bigint }[]>`
      SELECT g.id::text,
        ${page.areMembersWanted ? Prisma.sql`(SELECT count(*) FROM scim_group_member m WHERE m.group_id = g.id)` : Prisma.sql`0::bigint`} AS members
      FROM scim_group g WHERE ${where} ORDER BY g.created_at, g.id LIMIT ${count} OFFSET ${offset}`;
    let members = 0;
    const fitting = found.filter(({ members: own }, index) => {
      members += Number(own);
      return index === 0 || members <= MEMBERS_OF_PAGE_MAX;
    });
    const rows = await queries.scimGroup.findMany({
      where: { organizationId, id: { in: fitting.map(({ id }) => id) } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return { total, rows };
  },

  /** Returns the ids of the members of groups by the id of the group. */
  async membersOf(queries: Queries, groupIds: readonly string[]): Promise<Map<string, string[]>> {
    const rows = await queries.$queryRaw<{ group_id: string; members: string[] }[]>`
      SELECT group_id::text, array_agg(user_id::text ORDER BY created_at, user_id) AS members
      FROM scim_group_member WHERE group_id = ANY(${[...groupIds]}::uuid[]) GROUP BY group_id`;
    return new Map(rows.map(({ group_id, members }) => [group_id, members]));
  },

  /**
   * Changes the members of a group, in a number of statements that depends on neither.
   *
   * @returns the users who joined and who left
   * @throws BadRequestError when someone to add is no user of the organization
   */
  async changeMembers(
    queries: Queries,
    { organizationId, id }: Pick<ScimGroup, 'organizationId' | 'id'>,
    { areOthersRemoved, added, removed }: Pick<GroupChange, 'areOthersRemoved' | 'added' | 'removed'>,
  ): Promise<{ joined: string[]; left: string[] }> {
    const wanted = onlyUuids(added);
    const known = await queries.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM scim_user WHERE organization_id = ${organizationId}::uuid AND id = ANY(${wanted}::uuid[])`;
    if (known.length < added.size) {
      const ids = new Set(known.map((user) => user.id));
      const unknown = [...added].find((each) => !ids.has(each));
      throw badRequest('invalidValue', `members: ${unknown?.slice(0, 100)} is no user of this organization`);
    }
    const left = await queries.$queryRaw<{ user_id: string }[]>`
      DELETE FROM scim_group_member WHERE group_id = ${id}::uuid
        AND (user_id = ANY(${onlyUuids(removed)}::uuid[])
          OR (${areOthersRemoved}::boolean AND user_id <> ALL(${wanted}::uuid[])))
      RETURNING user_id::text`;
    const joined = await queries.$queryRaw<{ user_id: string }[]>`
      INSERT INTO scim_group_member (group_id, user_id) SELECT ${id}::uuid, unnest(${wanted}::uuid[])
      ON CONFLICT DO NOTHING RETURNING user_id::text`;
    return { joined: joined.map(({ user_id }) => user_id), left: left.map(({ user_id }) => user_id) };
  },

  /** Gives users a new version, because their groups changed. */
  async touchUsers(queries: Queries, organizationId: string, userIds: readonly string[]): Promise<void> {
    if (userIds.length === 0) return;
    await queries.$executeRaw`
      UPDATE scim_user SET version = version + 1, updated_at = now()
      WHERE organization_id = ${organizationId}::uuid AND id = ANY(${[...userIds]}::uuid[])`;
  },
};
