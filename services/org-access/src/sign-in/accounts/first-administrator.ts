import { takeAdvisoryLock } from '@runyard/database';
import { BadRequestError } from '@runyard/service-kit';
import { isAdministered } from '../../access/administrators.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { audited } from '../../audit/audit-trail.ts';
import { actAs } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import { provisionMember } from '../../directory/members/provision-member.ts';
import { hashNewPassword } from '../../directory/people/set-password.ts';
import type { AccountSignIn } from './account-sign-in.ts';
import { makeAccount } from './new-account.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import type { OpenedSession } from './sign-in-outcomes.ts';

/** The first person who administers the default organization, who comes by a link that only the operator sees. */
export class FirstAdministrator {
  readonly #database: Database;
  readonly #signIn: AccountSignIn;

  constructor(options: { database: Database; signIn: AccountSignIn }) {
    this.#database = options.database;
    this.#signIn = options.signIn;
  }

  /** Returns the token of a new link; null once a person administers the organization. Earlier links stay good. */
  async createLink(organizationId: string): Promise<string | null> {
    if (await isAdministered(this.#database.prisma, organizationId)) return null;
    const details = { organizationId };
    const { token } = await this.#database.transact((transaction) =>
      createToken(transaction, { purpose: 'first_administrator', details }),
    );
    return token;
  }

  /** Returns the name of the organization that a link leads to; null when the link does not work any more. */
  async findOrganization(token: string): Promise<string | null> {
    const found = await findToken(this.#database.prisma, 'first_administrator', token);
    if (!found) return null;
    const { organizationId } = found.details as { organizationId: string };
    if (await isAdministered(this.#database.prisma, organizationId)) return null;
    const organization = await this.#database.prisma.organization.findUnique({ where: { id: organizationId } });
    return organization?.displayName ?? null;
  }

  /**
   * Makes the administrator's account, and opens a session. Of two people with a link the first one becomes it.
   *
   * @throws BadRequestError when the link does not work any more, ConflictError, InvalidFieldError
   */
  async claim(request: {
    token: string;
    email: string;
    fullName: string;
    password: string;
    userAgent: string | null;
  }): Promise<OpenedSession> {
    const { token, email, fullName, password, userAgent } = request;
    if ((await this.findOrganization(token)) === null) throw linkExpired();
    const hash = await hashNewPassword(password, email);
    const claim = audited(async (transaction, audit) => {
      await takeAdvisoryLock(transaction, 'bootstrap');
      const used = await useToken(transaction, 'first_administrator', token);
      const organizationId = (used?.details as { organizationId?: string } | undefined)?.organizationId;
      if (!organizationId || (await isAdministered(transaction, organizationId))) throw linkExpired();
      const person = await makeAccount(transaction, organizationId, { email, fullName, hash }, 'bootstrap');
      return actAs({ actorKind: 'person', actorId: person.id, credentialId: null }, async () => {
        const role = { source: 'bootstrap', sourceId: null, roleId: PLATFORM_ROLES.organizationAdmin } as const;
        await provisionMember(transaction, audit, {
          organizationId,
          personId: person.id,
          name: fullName,
          isAccepted: true,
          grants: [{ ...role, workspaceId: null }],
        });
        return this.#signIn.open(transaction, audit, { personId: person.id, userAgent, by: 'first_administrator' });
      });
    });
    return this.#database.transact(claim);
  }
}

function linkExpired(): BadRequestError {
  return new BadRequestError('This link has been used, or has expired', { code: 'link_expired' });
}
