import type {
  ActiveMembersQuery,
  PendingMembersQuery,
  PendingWorkspaceMember,
  WorkspaceMember,
} from '@runyard/contracts';
import type { Tenant } from '@runyard/service-kit';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import type { Queries } from '../../database/database.ts';
import { Prisma } from '../../generated/client.ts';
import { inviteConditions } from '../invites/invite-store.ts';
import { memberConditions, memberStore } from '../members/member-store.ts';
import { renderMember } from '../members/render-member.ts';

/** A person with a role in a workspace. */
export interface StoredWorkspaceMember {
  identityId: string;
  /** Null for an administrator of the organization, who needs no membership. */
  memberId: string | null;
  createdAt: Date;
  roleId: string;
  roleName: string;
}

const ORDER = {
  name: Prisma.sql`lower(coalesce(person.full_name, person.email))`,
  email: Prisma.sql`person.email`,
  // The mightiest role first, as in lists of roles.
  role: Prisma.sql`role.position`,
  created_at: Prisma.sql`coalesce(member.created_at, identity.created_at)`,
};
const INVITE_ORDER = {
  ...ORDER,
  name: Prisma.sql`lower(coalesce(invite.full_name, invite.email))`,
  email: Prisma.sql`invite.email`,
  created_at: Prisma.sql`invite.created_at`,
};

/** The people with a role in a workspace. The rules are those of `accessOf`: administrators of the organization have it. */
const membersOf = ({ organizationId, workspaceId }: Tenant) => Prisma.sql`
  FROM identity
  JOIN person ON person.id = identity.person_id
  LEFT JOIN member ON member.organization_id = identity.organization_id AND member.identity_id = identity.id
    AND member.workspace_id = ${workspaceId}::uuid
  JOIN role ON role.id = CASE identity.organization_role_id
    WHEN ${PLATFORM_ROLES.organizationAdmin}::uuid THEN ${PLATFORM_ROLES.workspaceAdmin}::uuid
    ELSE member.role_id END
  WHERE identity.organization_id = ${organizationId}::uuid AND identity.kind = 'person' AND NOT identity.is_removed`;

const MEMBER = Prisma.sql`
  SELECT identity.id::text AS "identityId", member.id::text AS "memberId",
    coalesce(member.created_at, identity.created_at) AS "createdAt", role.id::text AS "roleId",
    role.display_name AS "roleName"`;

/** The pending invites that lead to a workspace. */
const invitesTo = ({ organizationId, workspaceId }: Tenant) => Prisma.sql`
  FROM invite_workspace place
  JOIN invite ON invite.id = place.invite_id
  JOIN role ON role.id = place.role_id
  JOIN role organization_role ON organization_role.id = invite.organization_role_id
  WHERE place.workspace_id = ${workspaceId}::uuid AND invite.organization_id = ${organizationId}::uuid
    AND invite.ended_at IS NULL AND invite.expires_at > now()`;

const INVITE = Prisma.sql`
  SELECT place.id::text, invite.created_at, invite.expires_at, invite.email, invite.full_name,
    role.id::text AS role_id, role.display_name AS role_name,
    organization_role.id::text AS org_role_id, organization_role.display_name AS org_role_name`;

type InviteRow = Pick<
  PendingWorkspaceMember,
  'id' | 'email' | 'full_name' | 'role_id' | 'role_name' | 'org_role_id' | 'org_role_name'
> & { created_at: Date; expires_at: Date };

/** Reads the members of workspaces and the invites to them. */
export const workspaceMemberStore = {
  /** @param id of the membership, or of the identity in the organization */
  async find(queries: Queries, tenant: Tenant, id: string): Promise<StoredWorkspaceMember | null> {
    const [found] = await queries.$queryRaw<StoredWorkspaceMember[]>`
      ${MEMBER} ${membersOf(tenant)} AND (member.id = ${id}::uuid OR identity.id = ${id}::uuid)`;
    return found ?? null;
  },

  /** @param identityIds of people in the organization */
  findMany(queries: Queries, tenant: Tenant, identityIds: readonly string[]): Promise<StoredWorkspaceMember[]> {
    return queries.$queryRaw<StoredWorkspaceMember[]>`
      ${MEMBER} ${membersOf(tenant)} AND identity.id = ANY(${[...identityIds]}::uuid[])`;
  },

  async list(
    queries: Queries,
    tenant: Tenant,
    query: ActiveMembersQuery | null,
  ): Promise<{ rows: StoredWorkspaceMember[]; total: number }> {
    const matches = Prisma.sql`${membersOf(tenant)} ${query ? memberConditions(tenant.organizationId, query) : Prisma.empty}`;
    const page = query ? pageOf(query, ORDER[query.sort_by], Prisma.sql`identity.id`) : OLDEST_FIRST;
    const rows = await queries.$queryRaw<StoredWorkspaceMember[]>`${MEMBER} ${matches} ${page}`;
    return { rows, total: query ? await count(queries, matches) : rows.length };
  },

  async listInvites(
    queries: Queries,
    tenant: Tenant,
    query: PendingMembersQuery | null,
  ): Promise<{ rows: PendingWorkspaceMember[]; total: number }> {
    const matches = Prisma.sql`${invitesTo(tenant)} ${query ? inviteConditions(query) : Prisma.empty}`;
    const page = query
      ? pageOf(query, INVITE_ORDER[query.sort_by], Prisma.sql`place.id`)
      : Prisma.sql`ORDER BY invite.created_at, place.id`;
    const rows = await queries.$queryRaw<InviteRow[]>`${INVITE} ${matches} ${page}`;
    const total = query ? await count(queries, matches) : rows.length;
    return { rows: rows.map((row) => renderInvite(row, tenant)), total };
  },

  async findInvite(queries: Queries, tenant: Tenant, id: string): Promise<PendingWorkspaceMember | null> {
    const [found] = await queries.$queryRaw<InviteRow[]>`${INVITE} ${invitesTo(tenant)} AND place.id = ${id}::uuid`;
    return found ? renderInvite(found, tenant) : null;
  },

  async findInvitesOf(queries: Queries, tenant: Tenant, emails: readonly string[]): Promise<PendingWorkspaceMember[]> {
    const rows = await queries.$queryRaw<InviteRow[]>`
      ${INVITE} ${invitesTo(tenant)} AND invite.email = ANY(${[...emails]})`;
    return rows.map((row) => renderInvite(row, tenant));
  },

  /** Returns members as answers show them, in the same order. */
  async render(queries: Queries, tenant: Tenant, rows: readonly StoredWorkspaceMember[]): Promise<WorkspaceMember[]> {
    const ids = rows.map(({ identityId }) => identityId);
    const identities = await memberStore.findMany(queries, tenant.organizationId, ids);
    const byId = new Map(identities.map((identity) => [identity.id, identity]));
    return rows.flatMap(({ identityId, memberId, createdAt, roleId, roleName }) => {
      const identity = byId.get(identityId);
      if (!identity) return [];
      const { tenant_ids: _, ...fields } = renderMember(identity);
      return {
        ...fields,
        id: memberId ?? identityId,
        org_identity_id: identityId,
        tenant_id: tenant.workspaceId,
        access_scope: 'workspace',
        created_at: createdAt.toISOString(),
        role_id: roleId,
        role_name: roleName,
      };
    });
  },
};

const OLDEST_FIRST = Prisma.sql`ORDER BY ${ORDER.created_at}, identity.id`;

function pageOf(
  { sort_by_desc, limit, offset }: Pick<ActiveMembersQuery, 'sort_by_desc' | 'limit' | 'offset'>,
  column: Prisma.Sql,
  id: Prisma.Sql,
): Prisma.Sql {
  const direction = sort_by_desc ? Prisma.sql`DESC` : Prisma.sql`ASC`;
  return Prisma.sql`ORDER BY ${column} ${direction}, ${id} ${direction} LIMIT ${limit} OFFSET ${offset}`;
}

async function count(queries: Queries, matches: Prisma.Sql): Promise<number> {
  const [row] = await queries.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${matches}`;
  return row!.total;
}

function renderInvite({ created_at, expires_at, ...row }: InviteRow, tenant: Tenant): PendingWorkspaceMember {
  return {
    ...row,
    organization_id: tenant.organizationId,
    tenant_id: tenant.workspaceId,
    access_scope: 'workspace',
    created_at: created_at.toISOString(),
    expires_at: expires_at.toISOString(),
    read_only: false,
  };
}
