import type { NewWorkspaceMember, WorkspaceInvite } from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { ForbiddenError, InvalidFieldError, type Principal, type Tenant, tenantOf } from '@runyard/service-kit';
import { PLATFORM_ROLES, rankOfOrganizationRole } from '../../access/platform-roles.ts';
import { readGrantableRoles, requireAuthorityOver, requireWorkspaceAuthority } from '../../access/role-authority.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import type { Organization, Prisma } from '../../generated/client.ts';
import { type InviteMaker, lockInvites, requireInvitesOn } from '../invites/create-invites.ts';
import { alreadyMembers } from '../members/member-errors.ts';
import { type PlannedMember, planPeople } from '../members/planned-member.ts';
import { addWorkspaceToInvites, lockPendingInvites } from './add-workspace-to-invites.ts';
import { giveWorkspaceRoles } from './give-workspace-roles.ts';
import { requireLiveWorkspace } from './require-live-workspace.ts';
import { workspaceMemberStore } from './workspace-member-store.ts';

/** Gets people into the caller's workspace by their addresses, also those who are not in the organization yet. */
export class WorkspaceInviteService {
  readonly #database: Database;
  readonly #maker: InviteMaker;
  readonly #isAlwaysAllowed: boolean;

  /** @param options.isAlwaysAllowed `WORKSPACE_SCOPE_ORG_INVITES_ENABLED` */
  constructor(options: { database: Database; maker: InviteMaker; isAlwaysAllowed: boolean }) {
    this.#database = options.database;
    this.#maker = options.maker;
    this.#isAlwaysAllowed = options.isAlwaysAllowed;
  }

  /**
   * Adds members of the organization at once, and invites all others: all of them or none. Who is invited already gets this
   * workspace with the invite they have. The answer is in the order of the request.
   *
   * @throws ForbiddenError when somebody is not in the organization and the caller may not invite to it, or may not give a
   *   role; ConflictError when somebody is in the workspace; InvalidFieldError for bad roles and doubled addresses
   */
  async addBatch(
    caller: Principal,
    people: readonly WorkspaceInvite[],
    keyed?: KeyedRequest,
  ): Promise<NewWorkspaceMember[]> {
    const tenant = tenantOf(caller);
    return this.#database.transact(
      withIdempotencyKey(
        keyed,
        audited(async (transaction, audit) => {
          await requireLiveWorkspace(transaction, tenant);
          const planned = await planPeople(transaction, caller, inWorkspace(people, tenant), { isBatch: true });
          const links = await this.#addAll(transaction, audit, caller, tenant, planned);
          return renderAll(transaction, tenant, planned, links);
        }),
      ),
    );
  }

  /** @returns the links of new invites by address */
  async #addAll(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    caller: Principal,
    tenant: Tenant,
    planned: readonly PlannedMember[],
  ): Promise<Map<string, string | null>> {
    const { organizationId } = tenant;
    const emails = planned.map(({ email }) => email);
    const organization = await lockInvites(transaction, organizationId);
    // Claims wait for these rows, so that who is no member below stays so until the workspace is in their invite.
    const pending = await lockPendingInvites(transaction, organizationId, emails);
    const members = await findMembers(transaction, organizationId, emails);
    await requireNotInWorkspace(transaction, tenant, members);
    const additions = planned.flatMap(({ email, workspaces }) => {
      const identityId = members.get(email);
      return identityId ? [{ identityId, roleId: workspaces[0]!.role.id, before: null }] : [];
    });
    await giveWorkspaceRoles(transaction, audit, tenant, additions);

    const others = planned.filter(({ email }) => !members.has(email));
    if (others.length === 0) return new Map();
    requireInvitesOn(organization);
    const known = others.filter(({ email }) => pending.has(email));
    const unknown = others.filter(({ email }) => !pending.has(email));
    const extensions = known.map(({ email, workspaces }) => ({
      email,
      inviteId: pending.get(email)!,
      roleId: workspaces[0]!.role.id,
    }));
    await this.#requireAuthorityOverInvites(transaction, caller, tenant, emails);
    await addWorkspaceToInvites(transaction, audit, tenant, extensions);
    this.#requireMayInvite(caller, organization, unknown);
    const created = await this.#maker.create(
      transaction,
      audit,
      { organizationId, invitedBy: caller.identity },
      unknown.map(({ email, fullName, organizationRole, workspaces }) => ({
        email,
        fullName,
        organizationRoleId: organizationRole.id,
        workspaces: workspaces.map(({ workspaceId, role }) => ({ workspaceId, roleId: role.id })),
      })),
    );
    return new Map(created.map(({ invite, link }) => [invite.email, link]));
  }

  /** Checks that the caller may change the roles that pending invites have in the workspace. */
  async #requireAuthorityOverInvites(
    transaction: Prisma.TransactionClient,
    caller: Principal,
    tenant: Tenant,
    emails: readonly string[],
  ): Promise<void> {
    const present = await workspaceMemberStore.findInvitesOf(transaction, tenant, emails);
    const roles = await readGrantableRoles(transaction, tenant.organizationId);
    const grants = present.flatMap(({ role_id }) => {
      const role = roles.get(role_id);
      return role ? [{ workspaceId: tenant.workspaceId, role }] : [];
    });
    await requireWorkspaceAuthority(transaction, caller, grants);
  }

  #requireMayInvite(caller: Principal, organization: Organization, unknown: readonly PlannedMember[]): void {
    const managesMembers = caller.organizationRole === 'admin' || caller.organizationRole === 'operator';
    const mayInvite = managesMembers || organization.workspaceAdminCanInvite || this.#isAlwaysAllowed;
    if (unknown.length > 0 && !mayInvite)
      throw new ForbiddenError('Only those who manage the organization invite people into it', {
        code: 'workspace_invites_disabled',
      });
    const own =
      caller.organizationRole === 'user' ? PLATFORM_ROLES.organizationUser : PLATFORM_ROLES.organizationViewer;
    for (const { organizationRole } of unknown) {
      if (managesMembers) requireAuthorityOver(caller, organizationRole.id);
      else if (rankOfOrganizationRole(organizationRole.id) < rankOfOrganizationRole(own))
        throw new ForbiddenError('You may not give a higher organization role than your own', {
          code: 'role_above_own',
        });
    }
  }
}

function inWorkspace(people: readonly WorkspaceInvite[], { workspaceId }: Tenant) {
  return people.map(({ workspace_ids, ...person }, index) => {
    if (workspace_ids?.some((id) => id.toLowerCase() !== workspaceId))
      throw new InvalidFieldError(['body', index, 'workspace_ids'], 'It names the workspace of the request alone.');
    return { ...person, workspace_ids: [workspaceId] };
  });
}

/** @returns the identities of members by address */
async function findMembers(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  emails: readonly string[],
): Promise<Map<string, string>> {
  const found = await transaction.identity.findMany({
    where: { organizationId, kind: 'person', isRemoved: false, person: { email: { in: [...emails] } } },
    select: { id: true, person: { select: { email: true } } },
  });
  return new Map(found.map(({ id, person }) => [person!.email, id]));
}

async function requireNotInWorkspace(
  transaction: Prisma.TransactionClient,
  tenant: Tenant,
  members: ReadonlyMap<string, string>,
): Promise<void> {
  const present = await workspaceMemberStore.findMany(transaction, tenant, [...members.values()]);
  const inside = new Set(present.map(({ identityId }) => identityId));
  const emails = [...members].flatMap(([email, identityId]) => (inside.has(identityId) ? [email] : []));
  if (emails.length > 0) throw alreadyMembers(emails.sort());
}

async function renderAll(
  transaction: Prisma.TransactionClient,
  tenant: Tenant,
  planned: readonly PlannedMember[],
  links: ReadonlyMap<string, string | null>,
): Promise<NewWorkspaceMember[]> {
  const emails = planned.map(({ email }) => email);
  const members = await findMembers(transaction, tenant.organizationId, emails);
  const rows = await workspaceMemberStore.findMany(transaction, tenant, [...members.values()]);
  const answers = new Map<string, NewWorkspaceMember>();
  for (const invite of await workspaceMemberStore.findInvitesOf(transaction, tenant, emails))
    answers.set(invite.email, { ...invite, is_pending: true, invite_link: links.get(invite.email) ?? null });
  for (const member of await workspaceMemberStore.render(transaction, tenant, rows)) {
    const { id, organization_id, tenant_id, access_scope, created_at, email, full_name, read_only } = member;
    const { role_id, role_name, org_role_id, org_role_name } = member;
    answers.set(email, {
      ...{ id, organization_id, tenant_id, access_scope, created_at, email, full_name, read_only },
      ...{ role_id, role_name, org_role_id, org_role_name },
      ...{ expires_at: null, is_pending: false, invite_link: null },
    });
  }
  return emails.map((email) => answers.get(email)!);
}
