import { BadRequestError, ForbiddenError, UnauthorizedError } from '@runyard/service-kit';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { areInvitesOn } from '../../access/effective-switches.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import { actAs } from '../../audit/change-origin.ts';
import type { Database, Queries } from '../../database/database.ts';
import { hashSecret } from '../../database/hash-secret.ts';
import { claimInvite, type InviteWithWorkspaces } from '../../directory/invites/claim-invite.ts';
import { describeInvite } from '../../directory/invites/create-invites.ts';
import { hashNewPassword } from '../../directory/people/set-password.ts';
import type { Prisma, Session } from '../../generated/client.ts';
import type { AccountSignIn } from './account-sign-in.ts';
import { makeAccount, mayMakeAccount } from './new-account.ts';
import type { OpenedSession } from './sign-in-outcomes.ts';

/** An invite as its page shows it. */
export interface ShownInvite {
  email: string;
  fullName: string | null;
  organization: string;
  /** Name or address of who invites; null when they are gone. */
  inviter: string | null;
  /** False: there is an account with the address, and its person has to sign in. */
  isAccountNew: boolean;
}

/** Invites by their links: their holder takes them up as the person they are signed in as, or as a new one. */
export class InviteAcceptance {
  readonly #database: Database;
  readonly #signIn: AccountSignIn;

  constructor(options: { database: Database; signIn: AccountSignIn }) {
    this.#database = options.database;
    this.#signIn = options.signIn;
  }

  /** Returns an invite that still works; null for any other token. */
  async find(token: string): Promise<ShownInvite | null> {
    const invite = await this.#findPending(this.#database.prisma, token);
    if (!invite) return null;
    const { email, fullName, organization, invitedBy, organizationId } = invite;
    const inviter = invitedBy
      ? await this.#database.prisma.identity.findFirst({ where: { organizationId, id: invitedBy } })
      : null;
    return {
      email,
      fullName,
      organization: organization.displayName,
      inviter: inviter?.name ?? null,
      isAccountNew: await mayMakeAccount(this.#database.prisma, organizationId, email),
    };
  }

  /**
   * Makes the account of a new person, who takes the invite up, and opens a session.
   *
   * @throws BadRequestError when the invite does not work any more, ConflictError when there is an account,
   *   InvalidFieldError
   */
  async acceptAsNew(request: {
    token: string;
    fullName: string;
    password: string;
    userAgent: string | null;
  }): Promise<OpenedSession & { organizationId: string }> {
    const { token, fullName, password, userAgent } = request;
    const found = await this.#findPending(this.#database.prisma, token);
    if (!found) throw inviteEnded();
    const hash = await hashNewPassword(password, found.email);
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const invite = await this.#require(transaction, token);
        const { email, organizationId } = invite;
        const person = await makeAccount(transaction, organizationId, { email, fullName, hash }, 'invite');
        return actAs({ actorKind: 'person', actorId: person.id, credentialId: null }, async () => {
          await claim(transaction, audit, invite, { id: person.id, name: fullName, isAccepted: true });
          const by = { personId: person.id, userAgent, by: 'invite' } as const;
          return { ...(await this.#signIn.open(transaction, audit, by)), organizationId };
        });
      }),
    );
  }

  /**
   * Takes an invite up as a person who is signed in.
   *
   * @throws BadRequestError when it does not work any more, ForbiddenError when it is for somebody else
   * @returns the organization
   */
  async accept(token: string, { id: sessionId, personId, ssoOrganizationId }: Session): Promise<string> {
    return this.#database.transact(
      audited(async (transaction, audit) => {
        const invite = await this.#require(transaction, token);
        // Whoever sets another password at the same time has ended the session, or comes after.
        await lockPerson(transaction, personId);
        if ((await transaction.session.count({ where: { id: sessionId, endedAt: null } })) === 0) throw sessionEnded();
        const person = await transaction.person.findUniqueOrThrow({ where: { id: personId } });
        if (person.email !== invite.email)
          throw new ForbiddenError(`The invite is for ${invite.email}: sign in with that address`, {
            code: 'invite_for_another',
          });
        const { organizationId } = invite;
        const member = await transaction.identity.findFirst({ where: { organizationId, personId, isRemoved: false } });
        if (member)
          throw new BadRequestError('You are a member of this organization already', { code: 'link_expired' });
        const isAccepted = ssoOrganizationId === null;
        await claim(transaction, audit, invite, { id: personId, name: person.fullName ?? person.email, isAccepted });
        return organizationId;
      }),
    );
  }

  /** Declines an invite, which its link is enough for. @throws BadRequestError when it does not work any more */
  async decline(token: string): Promise<void> {
    await this.#database.transact(
      audited(async (transaction, audit) => {
        const invite = await this.#require(transaction, token);
        const { id, organizationId } = invite;
        const { count } = await transaction.invite.updateMany({
          where: { id, organizationId, endedAt: null },
          data: { endedAt: new Date(), outcome: 'declined' },
        });
        if (count === 0) throw inviteEnded();
        const about = { resourceType: 'invite', resourceId: id } as const;
        audit.record(organizationId, { action: 'invite.declined', ...about, before: describeInvite(invite) });
      }),
    );
  }

  async #require(transaction: Prisma.TransactionClient, token: string) {
    const invite = await this.#findPending(transaction, token);
    if (!invite) throw inviteEnded();
    return invite;
  }

  /** Finds an invite that works: those of an organization that switched invites off do not. */
  async #findPending(queries: Queries, token: string) {
    const tokenSha256 = hashSecret(token);
    const invite = await queries.invite.findUnique({
      where: { tokenSha256, endedAt: null, expiresAt: { gt: new Date() } },
      include: { workspaces: true, organization: true },
    });
    return invite && areInvitesOn(invite.organization) ? invite : null;
  }
}

async function claim(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  invite: InviteWithWorkspaces,
  person: { id: string; name: string; isAccepted: boolean },
): Promise<void> {
  if ((await claimInvite(transaction, audit, invite, person)) === null) throw inviteEnded();
}

function sessionEnded(): UnauthorizedError {
  return new UnauthorizedError('The session has ended: sign in again', { code: 'session_ended' });
}

function inviteEnded(): BadRequestError {
  return new BadRequestError('This invite has been used or withdrawn, or has expired', { code: 'link_expired' });
}
