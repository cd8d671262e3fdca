import type {
  EnrichedMember,
  EnrichedMembersQuery,
  NewMember,
  PendingIdentityCreate,
  PendingMember,
  PendingMembersQuery,
} from '@runyard/contracts';
import { type KeyedRequest, withIdempotencyKey } from '@runyard/idempotency';
import { NotFoundError, type Principal } from '@runyard/service-kit';
import { readGrantableRoles, requireAuthorityOver } from '../../access/role-authority.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import type { Database } from '../../database/database.ts';
import { isTaken } from '../../database/is-taken.ts';
import type { Prisma } from '../../generated/client.ts';
import { addMembers, requireNoMembers } from '../members/add-members.ts';
import { memberStore } from '../members/member-store.ts';
import { type PlannedMember, planMembers } from '../members/planned-member.ts';
import { renderMember } from '../members/render-member.ts';
import { describeInvite, type InviteMaker, lockInvites, replaceInvites } from './create-invites.ts';
import { listEnrichedMembers } from './enriched-members.ts';
import { inviteStore } from './invite-store.ts';
import { renderInvite } from './render-invite.ts';

/** Invites people into the caller's organization, or makes them members at once. */
export class InviteService {
  readonly #database: Database;
  readonly #maker: InviteMaker;

  constructor(options: { database: Database; maker: InviteMaker }) {
    this.#database = options.database;
    this.#maker = options.maker;
  }

  async listAll({ organizationId }: Principal): Promise<PendingMember[]> {
    const roles = await readGrantableRoles(this.#database.prisma, organizationId);
    const invites = await inviteStore.listAll(this.#database.prisma, organizationId);
    return invites.map((invite) => renderInvite(invite, roles));
  }

  async listPage(
    { organizationId }: Principal,
    query: PendingMembersQuery,
  ): Promise<{ invites: PendingMember[]; total: number }> {
    const roles = await readGrantableRoles(this.#database.prisma, organizationId);
    const { invites, total } = await inviteStore.listPage(this.#database.prisma, organizationId, query);
    return { invites: invites.map((invite) => renderInvite(invite, roles)), total };
  }

  /** Returns a page of members and invites, and the number of all that match. */
  listEnriched(
    { organizationId }: Principal,
    query: EnrichedMembersQuery,
  ): Promise<{ rows: EnrichedMember[]; total: number }> {
    return listEnrichedMembers(this.#database.prisma, organizationId, query);
  }

  async add(caller: Principal, person: PendingIdentityCreate, keyed?: KeyedRequest): Promise<NewMember> {
    return this.#once(keyed, async (transaction, audit) => {
      const planned = await planMembers(transaction, caller, [person], { isBatch: false });
      return (await this.#addAll(transaction, audit, caller, planned))[0]!;
    });
  }

  /** Adds all of the people or none. The answer has them in the order of the request. */
  async addBatch(caller: Principal, people: PendingIdentityCreate[], keyed?: KeyedRequest): Promise<NewMember[]> {
    return this.#once(keyed, async (transaction, audit) => {
      const planned = await planMembers(transaction, caller, people, { isBatch: true });
      return this.#addAll(transaction, audit, caller, planned);
    });
  }

  async withdraw(caller: Principal, id: string): Promise<PendingMember> {
    const { organizationId } = caller;
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const [invite] = await inviteStore.findMany(transaction, organizationId, [id.toLowerCase()]);
        if (!invite || invite.endedAt) throw inviteNotFound();
        requireAuthorityOver(caller, invite.organizationRoleId);
        const { count } = await transaction.invite.updateMany({
          where: { id: invite.id, organizationId, endedAt: null },
          data: { endedAt: new Date(), outcome: 'withdrawn' },
        });
        if (count === 0) throw inviteNotFound();
        const about = { resourceType: 'invite', resourceId: invite.id } as const;
        audit.record(organizationId, { action: 'invite.withdrawn', ...about, before: describeInvite(invite) });
        return renderInvite(invite, await readGrantableRoles(transaction, organizationId));
      }),
    );
  }

  async #addAll(
    transaction: Prisma.TransactionClient,
    audit: AuditRecorder,
    caller: Principal,
    planned: readonly PlannedMember[],
  ): Promise<NewMember[]> {
    const { organizationId } = caller;
    const direct = planned.filter(({ isDirect }) => isDirect);
    const invited = planned.filter(({ isDirect }) => !isDirect);
    await requireNoMembers(
      transaction,
      organizationId,
      planned.map(({ email }) => email),
    );
    await requireAuthorityOverInvites(transaction, caller, planned);
    const created = await this.#maker.create(
      transaction,
      audit,
      { organizationId, invitedBy: caller.identity },
      invited.map(({ organizationRole, workspaces, email, fullName }) => ({
        email,
        fullName,
        organizationRoleId: organizationRole.id,
        workspaces: workspaces.map(({ workspaceId, role }) => ({ workspaceId, roleId: role.id })),
      })),
    );
    await replaceInvites(
      transaction,
      audit,
      organizationId,
      direct.map(({ email }) => email),
    );
    const identityIds = await addMembers(transaction, audit, organizationId, direct);
    const members = await memberStore.findMany(transaction, organizationId, identityIds);
    const roles = await readGrantableRoles(transaction, organizationId);
    const answers = new Map<string, NewMember>([
      ...created.map(({ invite, link }): [string, NewMember] => [
        invite.email,
        { ...renderInvite(invite, roles), is_pending: true, invite_link: link },
      ]),
      ...members.map((member, index): [string, NewMember] => {
        const { email, workspaces } = direct[index]!;
        const { tenant_ids: workspace_ids, ...rendered } = renderMember(member);
        return [
          email,
          {
            ...pendingFieldsOf(rendered),
            workspace_ids,
            tenant_ids: workspace_ids,
            workspace_role_id: workspaces[0]?.role.id ?? null,
            expires_at: null,
            is_pending: false,
            invite_link: null,
          },
        ];
      }),
    ]);
    return planned.map(({ email }) => answers.get(email)!);
  }

  /** Runs the work once more when another request for the same address was faster, so that it finds what that made. */
  async #once<Result>(
    keyed: KeyedRequest | undefined,
    work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<Result>,
  ): Promise<Result> {
    const attempt = () => this.#database.transact(withIdempotencyKey(keyed, audited(work)));
    try {
      return await attempt();
    } catch (error) {
      if (!isTaken(error)) throw error;
      return attempt();
    }
  }
}

/** Checks that the caller may end the pending invites that new ones replace. @throws ForbiddenError */
async function requireAuthorityOverInvites(
  transaction: Prisma.TransactionClient,
  caller: Principal,
  planned: readonly PlannedMember[],
): Promise<void> {
  const { organizationId } = caller;
  await lockInvites(transaction, organizationId);
  const emails = planned.map(({ email }) => email);
  const pending = await transaction.invite.findMany({
    where: { organizationId, email: { in: emails }, endedAt: null, expiresAt: { gt: new Date() } },
    select: { organizationRoleId: true },
  });
  for (const { organizationRoleId } of pending) requireAuthorityOver(caller, organizationRoleId);
}

/** Returns the fields that members and invites share. */
function pendingFieldsOf(member: Omit<ReturnType<typeof renderMember>, 'tenant_ids'>) {
  const { id, organization_id, tenant_id, access_scope, created_at, email, full_name, read_only } = member;
  const { role_id, role_name, org_role_id, org_role_name } = member;
  return {
    ...{ id, organization_id, tenant_id, access_scope, created_at, email, full_name, read_only },
    ...{ role_id, role_name, org_role_id, org_role_name },
  };
}

const inviteNotFound = () => new NotFoundError('Invite not found');
