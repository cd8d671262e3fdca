import type {
  ActiveMembersQuery,
  PendingMembersQuery,
  PendingWorkspaceMember,
  WorkspaceMember,
  WorkspaceMemberCreate,
} from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import {
  ConflictError,
  InvalidFieldError,
  NotFoundError,
  type Principal,
  type Tenant,
  tenantOf,
} from '@runyard/service-kit';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import {
  type GrantableRoles,
  lockGrantableRoles,
  requireKnownRole,
  requireWorkspaceAuthority,
} from '../../access/role-authority.ts';
import { applyGrants } from '../../access/role-grants.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';
import { requireNoGroup } from '../members/change-role.ts';
import { alreadyMembers, memberNotFound } from '../members/member-errors.ts';
import { loginsSeenBy } from '../people/logins-of.ts';
import { giveWorkspaceRoles } from './give-workspace-roles.ts';
import { requireLiveWorkspace } from './require-live-workspace.ts';
import { type StoredWorkspaceMember, workspaceMemberStore } from './workspace-member-store.ts';

/**
 * Lists, adds, changes and removes the people of the caller's workspace. Callers who do not administer the organization
 * handle only members whose roles, before and after, have no permission that they lack themselves.
 */
export class WorkspaceMemberService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  /** @param query null: all of them, the oldest first */
  async list(
    caller: Principal,
    query: ActiveMembersQuery | null,
  ): Promise<{ members: WorkspaceMember[]; total: number }> {
    const tenant = tenantOf(caller);
    const { prisma } = this.#database;
    const { rows, total } = await workspaceMemberStore.list(prisma, tenant, query);
    return { members: await workspaceMemberStore.render(prisma, tenant, rows), total };
  }

  /** @param query null: all of them, the oldest first */
  async listInvites(
    caller: Principal,
    query: PendingMembersQuery | null,
  ): Promise<{ invites: PendingWorkspaceMember[]; total: number }> {
    const { rows, total } = await workspaceMemberStore.listInvites(this.#database.prisma, tenantOf(caller), query);
    return { invites: rows, total };
  }

  /** @throws InvalidFieldError when the organization has no such member; ConflictError when they are in the workspace */
  async add(caller: Principal, body: WorkspaceMemberCreate, keyed?: KeyedRequest): Promise<WorkspaceMember> {
    const tenant = tenantOf(caller);
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          await requireLiveWorkspace(transaction, tenant);
          const { id: identityId, email } = await findPerson(transaction, tenant.organizationId, body);
          await this.#requireRoles(transaction, caller, tenant, [body.role_id]);
          if (await workspaceMemberStore.find(transaction, tenant, identityId)) throw alreadyMembers([email]);
          await giveWorkspaceRoles(transaction, audit, tenant, [{ identityId, roleId: body.role_id, before: null }]);
          return readOne(transaction, tenant, identityId);
        }),
      ),
    );
  }

  async update(caller: Principal, id: string, roleId: string): Promise<WorkspaceMember> {
    const tenant = tenantOf(caller);
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await requireLiveWorkspace(transaction, tenant);
        const current = await requireMember(transaction, tenant, id);
        const { identityId } = current;
        await this.#requireRoles(transaction, caller, tenant, [roleId, current.roleId]);
        await requireNoGroup(transaction, tenant.organizationId, identityId, tenant.workspaceId);
        if (roleId !== current.roleId) {
          await requireNoAdministrator(transaction, tenant, identityId);
          await giveWorkspaceRoles(transaction, audit, tenant, [{ identityId, roleId, before: current.roleId }]);
        }
        return readOne(transaction, tenant, identityId);
      }),
    );
  }

  async remove(caller: Principal, id: string): Promise<WorkspaceMember> {
    const tenant = tenantOf(caller);
    const { organizationId, workspaceId } = tenant;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const current = await requireMember(transaction, tenant, id);
        const { identityId, roleId } = current;
        await this.#requireRoles(transaction, caller, tenant, [roleId]);
        if (current.memberId === null) throw administersAll();
        await requireNoGroup(transaction, organizationId, identityId, workspaceId);
        const [removed] = await workspaceMemberStore.render(transaction, tenant, [current]);
        await transaction.roleGrant.deleteMany({ where: { organizationId, workspaceId, identityId } });
        await applyGrants(transaction, organizationId, [identityId]);
        audit.record(organizationId, {
          action: 'workspace_member.removed',
          resourceType: 'identity',
          resourceId: identityId,
          workspaceId,
          before: { roleId },
        });
        return removed!;
      }),
    );
  }

  /** Changes the role that an invite gives in the workspace. */
  async updateInvite(caller: Principal, id: string, roleId: string): Promise<PendingWorkspaceMember> {
    const tenant = tenantOf(caller);
    const { organizationId, workspaceId } = tenant;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        await requireLiveWorkspace(transaction, tenant);
        await lockInviteOf(transaction, tenant, id);
        const before = await workspaceMemberStore.findInvite(transaction, tenant, id);
        if (!before) throw inviteNotFound();
        await this.#requireRoles(transaction, caller, tenant, [roleId, before.role_id]);
        if (roleId === before.role_id) return before;
        await transaction.inviteWorkspace.update({ where: { id }, data: { roleId } });
        audit.record(organizationId, {
          action: 'invite.workspace_role_changed',
          resourceType: 'invite_workspace',
          resourceId: id,
          workspaceId,
          before: { email: before.email, roleId: before.role_id },
          after: { email: before.email, roleId },
        });
        return (await workspaceMemberStore.findInvite(transaction, tenant, id))!;
      }),
    );
  }

  /** Takes the workspace out of an invite, which stays. */
  async withdraw(caller: Principal, id: string): Promise<PendingWorkspaceMember> {
    const tenant = tenantOf(caller);
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const invite = await workspaceMemberStore.findInvite(transaction, tenant, id);
        if (!invite) throw inviteNotFound();
        await this.#requireRoles(transaction, caller, tenant, [invite.role_id]);
        const deleted = await transaction.inviteWorkspace.deleteMany({
          where: { id, workspaceId: tenant.workspaceId, invite: { endedAt: null } },
        });
        if (deleted.count === 0) throw inviteNotFound();
        audit.record(tenant.organizationId, {
          action: 'invite.workspace_removed',
          resourceType: 'invite_workspace',
          resourceId: id,
          workspaceId: tenant.workspaceId,
          before: { email: invite.email, roleId: invite.role_id },
        });
        return invite;
      }),
    );
  }

  /** @throws InvalidFieldError for an unknown role; ForbiddenError when the caller may not handle one of the roles */
  async #requireRoles(
    transaction: Prisma.TransactionClient,
    caller: Principal,
    { organizationId, workspaceId }: Tenant,
    roleIds: readonly string[],
  ): Promise<void> {
    const roles: GrantableRoles = await lockGrantableRoles(transaction, organizationId);
    const handled = roleIds.map((id) => requireKnownRole(roles, id, 'workspace', ['body', 'role_id']));
    await requireWorkspaceAuthority(
      transaction,
      caller,
      handled.map((role) => ({ workspaceId, role })),
    );
  }
}

/** @throws InvalidFieldError when nobody is named, or nobody of the organization */
async function findPerson(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  { org_identity_id, ls_user_id, user_id }: WorkspaceMemberCreate,
): Promise<{ id: string; email: string }> {
  const named = { org_identity_id, ls_user_id, user_id };
  const [field] = Object.entries(named).find(([, id]) => id !== undefined) ?? [];
  if (field === undefined)
    throw new InvalidFieldError(['body', 'org_identity_id'], 'Field required', { type: 'missing' });
  const found = await transaction.identity.findFirst({
    where: {
      organizationId,
      kind: 'person',
      isRemoved: false,
      ...(org_identity_id !== undefined && { id: org_identity_id }),
      ...(ls_user_id !== undefined && { personId: ls_user_id }),
      ...(user_id !== undefined && { person: { logins: { some: { id: user_id, ...loginsSeenBy(organizationId) } } } }),
    },
    include: { person: { select: { email: true } } },
  });
  if (!found)
    throw new InvalidFieldError(['body', field], 'The organization has no such member.', { code: 'member_unknown' });
  return { id: found.id, email: found.person!.email };
}

async function requireMember(
  transaction: Prisma.TransactionClient,
  tenant: Tenant,
  id: string,
): Promise<StoredWorkspaceMember> {
  const found = await workspaceMemberStore.find(transaction, tenant, id);
  if (!found) throw memberNotFound();
  return found;
}

async function readOne(
  transaction: Prisma.TransactionClient,
  tenant: Tenant,
  identityId: string,
): Promise<WorkspaceMember> {
  const found = await requireMember(transaction, tenant, identityId);
  return (await workspaceMemberStore.render(transaction, tenant, [found]))[0]!;
}

/** A weaker role would be stored and have no effect. */
async function requireNoAdministrator(
  transaction: Prisma.TransactionClient,
  { organizationId }: Tenant,
  identityId: string,
): Promise<void> {
  const where = { organizationId, id: identityId, organizationRoleId: PLATFORM_ROLES.organizationAdmin };
  if ((await transaction.identity.count({ where })) > 0) throw administersAll();
}

/** Makes a claim, a withdrawal and other changes of an invite wait. */
async function lockInviteOf(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Tenant,
  id: string,
): Promise<void> {
  await transaction.$queryRaw`
    SELECT 1 FROM invite JOIN invite_workspace AS place ON place.invite_id = invite.id
    WHERE place.id = ${id}::uuid AND place.workspace_id = ${workspaceId}::uuid
      AND invite.organization_id = ${organizationId}::uuid
    FOR UPDATE`;
}

const administersAll = () =>
  new ConflictError('Organization administrators administer every workspace', { code: 'role_of_administrator' });
const inviteNotFound = () => new NotFoundError('Invite not found');
