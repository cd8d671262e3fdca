import type { EnrichedMember, EnrichedMembersQuery } from '@runyard/contracts';
import { readGrantableRoles } from '../../access/role-authority.ts';
import type { Queries } from '../../database/database.ts';
import { Prisma } from '../../generated/client.ts';
import { globPattern } from '../members/like-patterns.ts';
import { loginsSeenBy } from '../people/logins-of.ts';

interface FoundRow {
  id: string;
  is_pending: boolean;
}

/**
 * Lists members and invites together, by address. One query finds the page; one more for each of the two kinds reads what
 * is shown of it.
 */
export async function listEnrichedMembers(
  queries: Queries,
  organizationId: string,
  query: EnrichedMembersQuery,
): Promise<{ rows: EnrichedMember[]; total: number }> {
  const { rows: found, total } = await findPage(queries, organizationId, query);
  const idsOf = (isPending: boolean) => found.filter((row) => row.is_pending === isPending).map(({ id }) => id);
  const [members, invites] = [
    await readMembers(queries, organizationId, idsOf(false)),
    await readInvites(queries, organizationId, idsOf(true)),
  ];
  const byId = new Map([...members, ...invites].map((row) => [row.id, row]));
  return { rows: found.flatMap(({ id }) => byId.get(id) ?? []), total };
}

async function findPage(
  queries: Queries,
  organizationId: string,
  query: EnrichedMembersQuery,
): Promise<{ rows: FoundRow[]; total: number }> {
  const withMembers = query.active_is !== false && query.pending_is !== true;
  const withInvites = query.active_is !== true && query.pending_is !== false;
  const candidates = Prisma.sql`
    (SELECT identity.id, false AS is_pending, person.email, coalesce(person.full_name, person.email) AS name,
       identity.organization_role_id AS role_id
     FROM identity JOIN person ON person.id = identity.person_id
     WHERE identity.organization_id = ${organizationId}::uuid AND identity.kind = 'person'
       AND NOT identity.is_removed AND ${withMembers}
     UNION ALL
     SELECT invite.id, true, invite.email, coalesce(invite.full_name, invite.email), invite.organization_role_id
     FROM invite
     WHERE invite.organization_id = ${organizationId}::uuid AND ended_at IS NULL AND expires_at > now()
       AND ${withInvites}) AS candidate
    JOIN role ON role.id = candidate.role_id`;
  const matches = Prisma.sql`FROM ${candidates} WHERE true ${conditionsOf(organizationId, query)}`;
  const rows = await queries.$queryRaw<FoundRow[]>`
    SELECT candidate.id::text, is_pending ${matches}
    ORDER BY candidate.email, candidate.id LIMIT ${query.limit} OFFSET ${query.offset}`;
  const [count] = await queries.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total ${matches}`;
  return { rows, total: count!.total };
}

function conditionsOf(organizationId: string, query: EnrichedMembersQuery): Prisma.Sql {
  const like = (globs: readonly string[]) => Prisma.sql`ILIKE ANY(${globs.map(globPattern)}::text[])`;
  const conditions: Prisma.Sql[] = [];
  if (query.name_like) conditions.push(Prisma.sql`candidate.name ${like(query.name_like)}`);
  if (query.email_like) conditions.push(Prisma.sql`candidate.email ${like(query.email_like)}`);
  if (query.organization_role_like) {
    const pattern = like(query.organization_role_like);
    conditions.push(Prisma.sql`(role.display_name ${pattern} OR role.name ${pattern})`);
  }
  const placement: Prisma.Sql[] = [];
  if (query.workspace_name_like) {
    const pattern = like(query.workspace_name_like);
    placement.push(Prisma.sql`(workspace.display_name ${pattern} OR workspace.id::text ${pattern})`);
  }
  if (query.workspace_role_like) {
    const pattern = like(query.workspace_role_like);
    placement.push(Prisma.sql`(place_role.display_name ${pattern} OR place_role.name ${pattern})`);
  }
  if (placement.length > 0) {
    conditions.push(Prisma.sql`candidate.id IN (
      SELECT place.holder FROM (
        SELECT identity_id AS holder, workspace_id, role_id FROM member
        UNION ALL SELECT invite_id, workspace_id, role_id FROM invite_workspace) AS place
      JOIN workspace ON workspace.id = place.workspace_id
      JOIN role AS place_role ON place_role.id = place.role_id
      WHERE workspace.organization_id = ${organizationId}::uuid AND workspace.deleted_at IS NULL AND ${Prisma.join(placement, ' AND ')})`);
  }
  return conditions.length === 0 ? Prisma.empty : Prisma.sql`AND ${Prisma.join(conditions, ' AND ')}`;
}

async function readMembers(queries: Queries, organizationId: string, ids: string[]): Promise<EnrichedMember[]> {
  if (ids.length === 0) return [];
  const identities = await queries.identity.findMany({
    where: { organizationId, id: { in: ids } },
    include: {
      person: {
        include: { logins: { where: loginsSeenBy(organizationId), orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } },
      },
      organizationRole: true,
      members: { include: { workspace: true, role: true }, orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }] },
      scimUser: { include: { groups: { include: { group: true }, orderBy: { createdAt: 'asc' } } } },
    },
  });
  return identities.map(({ person, organizationRole, members, scimUser, ...identity }) => ({
    id: identity.id,
    is_pending: false,
    is_disabled: identity.disabledAt !== null,
    ls_user_id: person!.id,
    email: person!.email,
    display_name: person!.fullName ?? person!.email,
    avatar_url: person!.avatarUrl,
    created_at: identity.createdAt.toISOString(),
    role_id: organizationRole.id,
    role_name: organizationRole.displayName,
    linked_login_methods: person!.logins.map(({ provider, provisioning }) => ({ provider, provisioning })),
    scim_groups: (scimUser?.groups ?? []).map(({ group }) => ({
      name: group.displayName,
      created_at: group.createdAt.toISOString(),
    })),
    workspace_memberships: members.map(({ workspace, role }) => placeOf(workspace, role)),
  }));
}

async function readInvites(queries: Queries, organizationId: string, ids: string[]): Promise<EnrichedMember[]> {
  if (ids.length === 0) return [];
  const invites = await queries.invite.findMany({
    where: { organizationId, id: { in: ids } },
    include: { workspaces: true },
  });
  const roles = await readGrantableRoles(queries, organizationId);
  const workspaces = await queries.workspace.findMany({ where: { organizationId, deletedAt: null } });
  const workspaceOf = new Map(workspaces.map((workspace) => [workspace.id, workspace]));
  return invites.map((invite) => ({
    id: invite.id,
    is_pending: true,
    is_disabled: false,
    ls_user_id: null,
    email: invite.email,
    display_name: invite.fullName ?? invite.email,
    avatar_url: null,
    created_at: invite.createdAt.toISOString(),
    role_id: invite.organizationRoleId,
    role_name: roles.get(invite.organizationRoleId)?.displayName ?? '',
    linked_login_methods: [],
    scim_groups: [],
    workspace_memberships: invite.workspaces.flatMap(({ workspaceId, roleId }) => {
      const [workspace, role] = [workspaceOf.get(workspaceId), roles.get(roleId)];
      return workspace && role ? [placeOf(workspace, role)] : [];
    }),
  }));
}

const placeOf = (workspace: { id: string; displayName: string }, role: { id: string; displayName: string }) => ({
  workspace_id: workspace.id,
  workspace_name: workspace.displayName,
  role_id: role.id,
  role_name: role.displayName,
});
