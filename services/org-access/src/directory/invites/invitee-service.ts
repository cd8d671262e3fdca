import type { OrgMember, PendingOrganization } from '@runyard/contracts';
import { NotFoundError, type Principal } from '@runyard/service-kit';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { areInvitesOn } from '../../access/effective-switches.ts';
import { audited } from '../../audit/audit-trail.ts';
import type { Database, Queries } from '../../database/database.ts';
import { isTaken } from '../../database/is-taken.ts';
import type { Organization, Person } from '../../generated/client.ts';
import { alreadyMembers } from '../members/member-errors.ts';
import { memberStore } from '../members/member-store.ts';
import { renderMember } from '../members/render-member.ts';
import { claimInvite, findPendingInvite, type InviteWithWorkspaces } from './claim-invite.ts';
import { describeInvite } from './create-invites.ts';

export type InviteWithOrganization = InviteWithWorkspaces & { organization: Organization };

/** Shows a signed-in person the invites for their address, and lets them accept or decline. */
export class InviteeService {
  readonly #database: Database;

  constructor(options: { database: Database }) {
    this.#database = options.database;
  }

  async list(caller: Principal): Promise<PendingOrganization[]> {
    const { invites } = await findInvites(this.#database.prisma, caller, null);
    return invites.map(renderPendingOrganization);
  }

  /**
   * @throws NotFoundError when no invite waits for the person, or the organization takes none at present; ConflictError when
   *   the person is a member, who may be disabled
   */
  async claim(caller: Principal, id: string): Promise<OrgMember> {
    const organizationId = id.toLowerCase();
    try {
      return await this.#database.transact(
        audited(async (transaction, audit) => {
          // A proof of the address that is taken back at the same time is seen to be gone below, or is taken back afterwards.
          await lockPerson(transaction, caller.personId!);
          const { person, isAccount } = await requireInvite(transaction, caller, organizationId);
          const invite = await findPendingInvite(transaction, organizationId, person.email);
          const claimant = { id: person.id, name: person.fullName ?? person.email, isAccepted: isAccount };
          const identityId = invite && (await claimInvite(transaction, audit, invite, claimant));
          const member = identityId && (await memberStore.find(transaction, organizationId, identityId));
          if (!member) throw inviteNotFound();
          return renderMember(member);
        }),
      );
    } catch (error) {
      if (!isTaken(error)) throw error;
      const person = await this.#database.prisma.person.findUniqueOrThrow({ where: { id: caller.personId! } });
      throw alreadyMembers([person.email]);
    }
  }

  async decline(caller: Principal, id: string): Promise<PendingOrganization> {
    const organizationId = id.toLowerCase();
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const { invite } = await requireInvite(transaction, caller, organizationId);
        const { count } = await transaction.invite.updateMany({
          where: { id: invite.id, organizationId, endedAt: null },
          data: { endedAt: new Date(), outcome: 'declined' },
        });
        if (count === 0) throw inviteNotFound();
        const about = { resourceType: 'invite', resourceId: invite.id } as const;
        audit.record(organizationId, { action: 'invite.declined', ...about, before: describeInvite(invite) });
        return renderPendingOrganization(invite);
      }),
    );
  }
}

/**
 * Finds the invites that work for a person: of organizations that take invites, for an address that is verified. To a
 * session of an identity provider, its organization vouches for the address, and there is no other organization.
 *
 * @returns also whether the session is one of the person's account
 */
export async function findInvites(
  queries: Queries,
  { personId, sessionId }: Principal,
  organizationId: string | null,
): Promise<{ person: Person; isAccount: boolean; invites: InviteWithOrganization[] }> {
  const person = await queries.person.findUniqueOrThrow({ where: { id: personId! } });
  const session = await queries.session.findUnique({ where: { id: sessionId! } });
  const ssoOrganizationId = session?.ssoOrganizationId ?? null;
  const isAccount = ssoOrganizationId === null;
  if (!person.emailVerifiedAt && isAccount) return { person, isAccount, invites: [] };
  const invites = await queries.invite.findMany({
    where: {
      AND: [
        ...(organizationId ? [{ organizationId }] : []),
        ...(ssoOrganizationId ? [{ organizationId: ssoOrganizationId }] : []),
      ],
      email: person.email,
      endedAt: null,
      expiresAt: { gt: new Date() },
    },
    include: { organization: true, workspaces: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  });
  return { person, isAccount, invites: invites.filter(({ organization }) => areInvitesOn(organization)) };
}

async function requireInvite(
  queries: Queries,
  caller: Principal,
  organizationId: string,
): Promise<{ person: Person; isAccount: boolean; invite: InviteWithOrganization }> {
  const { person, isAccount, invites } = await findInvites(queries, caller, organizationId);
  if (!invites[0]) throw inviteNotFound();
  return { person, isAccount, invite: invites[0] };
}

function renderPendingOrganization(invite: InviteWithOrganization): PendingOrganization {
  const { organization } = invite;
  return {
    id: organization.id,
    display_name: organization.displayName,
    is_personal: organization.isPersonal,
    sso_only: organization.ssoOnly,
    org_role_id: invite.organizationRoleId,
    invited_at: invite.createdAt.toISOString(),
    expires_at: invite.expiresAt.toISOString(),
  };
}

const inviteNotFound = () => new NotFoundError('Invite not found');
