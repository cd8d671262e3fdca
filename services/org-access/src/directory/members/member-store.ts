import type { ActiveMembersQuery } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';
import { Prisma } from '../../generated/client.ts';
import { loginsSeenBy } from '../people/logins-of.ts';
import { normalizeEmail } from '../people/normalize-email.ts';
import { containsPattern } from './like-patterns.ts';

const relationsFor = (organizationId: string) =>
  ({
    person: {
      include: { logins: { where: loginsSeenBy(organizationId), orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
    },
    organizationRole: { select: { displayName: true } },
    members: { select: { workspaceId: true }, orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }] },
  }) as const satisfies Prisma.IdentityInclude;
type Relations = ReturnType<typeof relationsFor>;

/** A person's identity with what answers show of it. */
export type StoredMember = Prisma.IdentityGetPayload<{ include: Relations }> & {
  person: NonNullable<Prisma.IdentityGetPayload<{ include: Relations }>['person']>;
};

const SORT_COLUMNS = {
  name: Prisma.sql`lower(coalesce(person.full_name, person.email))`,
  email: Prisma.sql`person.email`,
  // The mightiest role first, as in lists of roles.
  role: Prisma.sql`role.position`,
  created_at: Prisma.sql`identity.created_at`,
};

/** Reads the people of an organization. Those who were removed are not among them. */
export const memberStore = {
  async find(queries: Queries, organizationId: string, id: string): Promise<StoredMember | null> {
    const found = await queries.identity.findFirst({
      where: { organizationId, id, kind: 'person', isRemoved: false },
      include: relationsFor(organizationId),
    });
    return found as StoredMember | null;
  },

  async listAll(queries: Queries, organizationId: string): Promise<StoredMember[]> {
    const found = await queries.identity.findMany({
      where: { organizationId, kind: 'person', isRemoved: false },
      include: relationsFor(organizationId),
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
    return found as StoredMember[];
  },

  /** Returns members with these ids, in this order. */
  async findMany(queries: Queries, organizationId: string, ids: readonly string[]): Promise<StoredMember[]> {
    const found = await queries.identity.findMany({
      where: { organizationId, id: { in: [...ids] } },
      include: relationsFor(organizationId),
    });
    const byId = new Map(found.map((member) => [member.id, member as StoredMember]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  },

  /** Returns a page of members and the number of all that match. Filters, order and limit come before any relation. */
  async listPage(
    queries: Queries,
    organizationId: string,
    query: ActiveMembersQuery,
  ): Promise<{ members: StoredMember[]; total: number }> {
    const matches = Prisma.sql`
      FROM identity
      JOIN person ON person.id = identity.person_id
      JOIN role ON role.id = identity.organization_role_id
      WHERE identity.organization_id = ${organizationId}::uuid AND identity.kind = 'person' AND NOT identity.is_removed
      ${memberConditions(organizationId, query)}`;
    const direction = query.sort_by_desc ? Prisma.sql`DESC` : Prisma.sql`ASC`;
    const [page, [count]] = await Promise.all([
      queries.$queryRaw<{ id: string }[]>`
        SELECT identity.id::text ${matches}
        ORDER BY ${SORT_COLUMNS[query.sort_by]} ${direction}, identity.id ${direction}
        LIMIT ${query.limit} OFFSET ${query.offset}`,
      queries.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${matches}`,
    ]);
    const members = await memberStore.findMany(
      queries,
      organizationId,
      page.map(({ id }) => id),
    );
    return { members, total: count!.total };
  },
};

/** Returns the filters of a query about `identity` and `person`, each beginning with AND. */
export function memberConditions(organizationId: string, query: ActiveMembersQuery): Prisma.Sql {
  const conditions: Prisma.Sql[] = [];
  if (query.emails) conditions.push(Prisma.sql`person.email = ANY(${query.emails.map(normalizeEmail)})`);
  if (query.ls_user_ids) conditions.push(Prisma.sql`person.id = ANY(${query.ls_user_ids}::uuid[])`);
  if (query.user_ids)
    conditions.push(
      Prisma.sql`person.id IN (
        SELECT person_id FROM login LEFT JOIN sso_provider ON sso_provider.id = login.sso_provider_id
        WHERE login.id = ANY(${query.user_ids}::uuid[])
          AND (login.provider = 'email' OR sso_provider.organization_id = ${organizationId}::uuid))`,
    );
  if (query.is_disabled !== undefined)
    conditions.push(
      query.is_disabled ? Prisma.sql`identity.disabled_at IS NOT NULL` : Prisma.sql`identity.disabled_at IS NULL`,
    );
  if (query.q) {
    const pattern = containsPattern(query.q);
    conditions.push(Prisma.sql`(person.email ILIKE ${pattern} OR person.full_name ILIKE ${pattern})`);
  }
  return conditions.length === 0 ? Prisma.empty : Prisma.sql`AND ${Prisma.join(conditions, ' AND ')}`;
}
