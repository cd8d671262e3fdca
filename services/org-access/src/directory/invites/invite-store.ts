import type { PendingMembersQuery } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';
import { Prisma } from '../../generated/client.ts';
import { containsPattern } from '../members/like-patterns.ts';
import { normalizeEmail } from '../people/normalize-email.ts';
import type { InviteWithWorkspaces } from './claim-invite.ts';

const SORT_COLUMNS = {
  name: Prisma.sql`lower(coalesce(invite.full_name, invite.email))`,
  email: Prisma.sql`invite.email`,
  role: Prisma.sql`role.position`,
  created_at: Prisma.sql`invite.created_at`,
};

/** Reads the invites of an organization that are pending: not ended and not expired. */
export const inviteStore = {
  listAll(queries: Queries, organizationId: string): Promise<InviteWithWorkspaces[]> {
    return queries.invite.findMany({
      where: { organizationId, endedAt: null, expiresAt: { gt: new Date() } },
      include: { workspaces: true },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  },

  async findMany(queries: Queries, organizationId: string, ids: readonly string[]): Promise<InviteWithWorkspaces[]> {
    const found = await queries.invite.findMany({
      where: { organizationId, id: { in: [...ids] } },
      include: { workspaces: true },
    });
    const byId = new Map(found.map((invite) => [invite.id, invite]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  },

  /** Returns a page of invites and the number of all that match. */
  async listPage(
    queries: Queries,
    organizationId: string,
    query: PendingMembersQuery,
  ): Promise<{ invites: InviteWithWorkspaces[]; total: number }> {
    const matches = Prisma.sql`
      FROM invite JOIN role ON role.id = invite.organization_role_id
      WHERE invite.organization_id = ${organizationId}::uuid AND ended_at IS NULL AND expires_at > now()
      ${inviteConditions(query)}`;
    const direction = query.sort_by_desc ? Prisma.sql`DESC` : Prisma.sql`ASC`;
    const [page, [count]] = await Promise.all([
      queries.$queryRaw<{ id: string }[]>`
        SELECT invite.id::text ${matches}
        ORDER BY ${SORT_COLUMNS[query.sort_by]} ${direction}, invite.id ${direction}
        LIMIT ${query.limit} OFFSET ${query.offset}`,
      queries.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${matches}`,
    ]);
    const ids = page.map(({ id }) => id);
    return { invites: await inviteStore.findMany(queries, organizationId, ids), total: count!.total };
  },
};

/** Returns the filters of a query about `invite`, each beginning with AND. */
export function inviteConditions(query: PendingMembersQuery): Prisma.Sql {
  const conditions: Prisma.Sql[] = [];
  if (query.emails) conditions.push(Prisma.sql`invite.email = ANY(${query.emails.map(normalizeEmail)})`);
  if (query.q) {
    const pattern = containsPattern(query.q);
    conditions.push(Prisma.sql`(invite.email ILIKE ${pattern} OR invite.full_name ILIKE ${pattern})`);
  }
  return conditions.length === 0 ? Prisma.empty : Prisma.sql`AND ${Prisma.join(conditions, ' AND ')}`;
}
