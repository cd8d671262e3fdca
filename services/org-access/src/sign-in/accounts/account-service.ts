import { ConflictError, UnauthorizedError } from '@runyard/service-kit';
import { endSessions } from '../../access/credentials/end-sessions.ts';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { type AuditRecorder, audited } from '../../audit/audit-trail.ts';
import { actAs, changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { EmailOutbox } from '../../directory/email/email-outbox.ts';
import { acceptMembership, forgetVerification, ownsAccount } from '../../directory/members/own-account.ts';
import { proveAddress } from '../../directory/people/address-ownership.ts';
import { normalizeEmail } from '../../directory/people/normalize-email.ts';
import { verifyPassword } from '../../directory/people/password-hash.ts';
import { hashNewPassword, setPassword } from '../../directory/people/set-password.ts';
import type { Prisma } from '../../generated/client.ts';
import type { LiveSessions } from '../sessions/live-sessions.ts';
import { linkExpired } from './address-verification.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { recordForPerson } from './audit-person.ts';
import { evenTimeOut } from './even-time.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';
import type { SecondFactors, TotpSetup } from './second-factors.ts';

/** A signed-in person, and the session that stays when the others end. */
export interface AccountOwner {
  personId: string;
  sessionId: string;
}

/** The origin of a link with which a password is set. */
interface ResetDetails {
  byAdministrator?: true;
  /** The organization of the administrator. */
  organizationId?: string;
}

/** Changes of people's own accounts: the password and the second factor. */
export class AccountService {
  readonly #database: Database;
  readonly #limit: AttemptLimit;
  readonly #factors: SecondFactors;
  readonly #emails: EmailOutbox;
  readonly #sessions: LiveSessions;
  readonly #publicUrl: string;

  constructor(options: {
    database: Database;
    limit: AttemptLimit;
    factors: SecondFactors;
    emails: EmailOutbox;
    sessions: LiveSessions;
    publicUrl: string;
  }) {
    this.#database = options.database;
    this.#limit = options.limit;
    this.#factors = options.factors;
    this.#emails = options.emails;
    this.#sessions = options.sessions;
    this.#publicUrl = options.publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  /** True when people can be sent links by email. */
  get sendsEmail(): boolean {
    return this.#emails.isEnabled;
  }

  /**
   * Changes the password, and ends all other sessions.
   *
   * @throws UnauthorizedError when the current one is wrong, InvalidFieldError when the new one is refused,
   *   TooManyRequestsError
   */
  async changePassword(owner: AccountOwner, passwords: { current: string; next: string }): Promise<void> {
    const { personId } = owner;
    const person = await this.requirePassword(personId, passwords.current);
    const hash = await hashNewPassword(passwords.next, person.email);
    await this.change(owner, async (transaction, audit) => {
      await setPassword(transaction, { personId, hash, keptSessionId: owner.sessionId });
      await recordForPerson(transaction, audit, personId, { action: 'password.changed', details: { by: 'person' } });
    });
  }

  /**
   * Begins the set-up of an authenticator app, for which the password is asked again: the app is a second factor after it.
   *
   * @throws ConflictError when there is one, UnauthorizedError for a wrong password, TooManyRequestsError
   */
  async beginTotp(owner: AccountOwner, password: string): Promise<void> {
    await this.requirePassword(owner.personId, password);
    await this.change(owner, async (transaction) => {
      if (!(await this.#factors.begin(transaction, owner)))
        throw new ConflictError('An authenticator app is set up already', { code: 'second_factor_exists' });
    });
  }

  /** Returns the set-up that the session began, and that waits for its first code; null when there is none. */
  findTotpSetup(owner: AccountOwner): Promise<TotpSetup | null> {
    return this.#factors.findBegun(this.#database.prisma, owner);
  }

  hasAuthenticatorApp(personId: string): Promise<boolean> {
    return this.#factors.hasApp(this.#database.prisma, personId);
  }

  /**
   * Ends the set-up of the app with its first code, and all other sessions, which were opened without it.
   *
   * @throws UnauthorizedError for a wrong code, TooManyRequestsError
   * @returns new recovery codes, which are stored nowhere; null when those of another second factor stay
   */
  async confirmTotp(owner: AccountOwner, code: string): Promise<string[] | null> {
    const { personId } = owner;
    await this.#limit.take('secondStep', personId, changeOrigin().address);
    const confirmed = await this.change(owner, async (transaction, audit) => {
      const made = await this.#factors.confirm(transaction, owner, code);
      if (!made) return null;
      await endOtherSessions(transaction, owner);
      await recordForPerson(transaction, audit, personId, { action: 'second_factor.added', details: { kind: 'totp' } });
      return made;
    });
    if (confirmed === null) throw wrongCode();
    await this.#limit.forget('secondStep', personId, changeOrigin().address);
    return confirmed.recoveryCodes;
  }

  /**
   * Removes the app, for which the password is asked again, and ends all other sessions: the app may have been lost.
   *
   * @throws UnauthorizedError, TooManyRequestsError
   */
  async removeTotp(owner: AccountOwner, password: string): Promise<void> {
    const { personId } = owner;
    await this.requirePassword(personId, password);
    await this.change(owner, async (transaction, audit) => {
      if (!(await this.#factors.remove(transaction, personId))) return;
      await endOtherSessions(transaction, owner);
      const details = { kind: 'totp' };
      await recordForPerson(transaction, audit, personId, { action: 'second_factor.removed', details });
    });
  }

  /**
   * Sends a link with which the owner of an address sets a new password, or the first one. Answers alike for an address that
   * nobody has, or whose person signs in by identity providers alone.
   */
  async requestReset(address: string): Promise<void> {
    const begun = performance.now();
    const email = normalizeEmail(address);
    await this.#limit.takeEmail('reset', email, changeOrigin().address);
    await this.#sendReset(email);
    await evenTimeOut(begun);
  }

  async #sendReset(email: string): Promise<void> {
    const person = await this.#database.prisma.person.findUnique({
      where: { email },
      include: { password: true, logins: { where: { ssoProviderId: { not: null } }, take: 1 } },
    });
    if (!person || !this.#emails.isEnabled) return;
    if (!person.password && person.logins.length > 0) return;
    await this.#database.transact(
      audited(async (transaction, audit) => {
        const link = await createToken(transaction, { purpose: 'reset_password', personId: person.id, email });
        await this.#emails.enqueue(transaction, [
          {
            to: email,
            subject: 'Set a new password',
            text: [
              'Somebody, perhaps you, asked for a new password for your account. Set it here within an hour:',
              `${this.#publicUrl}/auth/new-password?token=${link.token}`,
              'If it was not you, there is nothing to do: your password stays as it is.',
            ].join('\n\n'),
            expiresAt: link.expiresAt,
          },
        ]);
        await recordForPerson(transaction, audit, person.id, { action: 'password.reset_requested', details: {} });
      }),
    );
  }

  /** Returns the address whose password a link sets; null when the link does not work any more. */
  async findReset(token: string): Promise<string | null> {
    const found = await findToken(this.#database.prisma, 'reset_password', token);
    return found?.email ?? null;
  }

  /**
   * Sets the password that a link allows to set, and ends all sessions. A link that came by email proves the address: the
   * second factors of an account that was only claimed end, and those of its owner stay, as with a link of an administrator,
   * which works while the person is in that organization alone.
   *
   * @throws BadRequestError when the link does not work any more, InvalidFieldError
   */
  async reset(token: string, password: string): Promise<void> {
    const found = await findToken(this.#database.prisma, 'reset_password', token);
    if (!found?.personId || !found.email) throw linkExpired();
    const { personId, email } = found;
    const hash = await hashNewPassword(password, email);
    await this.#change(personId, async (transaction, audit) => {
      const { byAdministrator, organizationId } = found.details as ResetDetails;
      if (byAdministrator && !(await ownsAccount(transaction, organizationId!, personId))) throw linkExpired();
      await lockPerson(transaction, personId);
      if (!(await useToken(transaction, 'reset_password', token))) throw linkExpired();
      const hasMoved = (await transaction.person.count({ where: { id: personId, email } })) === 0;
      if (!byAdministrator && hasMoved) throw linkExpired();
      const before = byAdministrator ? null : await proveAddress(transaction, personId);
      await setPassword(transaction, { personId, hash });
      if (byAdministrator) {
        await forgetVerification(transaction, personId);
        await acceptMembership(transaction, organizationId!, personId);
      }
      const by = byAdministrator ? 'link of an administrator' : 'link by email';
      const details = { by, ...(before === 'claimed' && { replacesUnprovenAccount: true }) };
      await recordForPerson(transaction, audit, personId, { action: 'password.changed', details });
    });
  }

  /** Asks for the password again. @throws UnauthorizedError when it is wrong, TooManyRequestsError */
  async requirePassword(personId: string, password: string) {
    await this.#limit.take('secondStep', personId, changeOrigin().address);
    const person = await this.#database.prisma.person.findUniqueOrThrow({
      where: { id: personId },
      include: { password: true },
    });
    if (!(await verifyPassword(person.password?.hash ?? null, password)))
      throw new UnauthorizedError('The password is wrong', { code: 'sign_in_refused' });
    await this.#limit.forget('secondStep', personId, changeOrigin().address);
    return person;
  }

  /**
   * Runs a change of an account by its owner. Whoever ends the session at the same time comes before, and is seen here, or
   * comes after.
   *
   * @throws UnauthorizedError when the session has ended
   */
  change<T>(
    { personId, sessionId }: AccountOwner,
    work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<T>,
  ): Promise<T> {
    return this.#change(personId, async (transaction, audit) => {
      await lockPerson(transaction, personId);
      await this.#sessions.findById(sessionId, transaction);
      return work(transaction, audit);
    });
  }

  #change<T>(
    personId: string,
    work: (transaction: Prisma.TransactionClient, audit: AuditRecorder) => Promise<T>,
  ): Promise<T> {
    const { credentialId } = changeOrigin();
    const actor = { actorKind: 'person', actorId: personId, credentialId } as const;
    return actAs(actor, () => this.#database.transact(audited(work)));
  }
}

/** Ends the sessions of an account but the one in which its person changed it. */
export async function endOtherSessions(
  transaction: Prisma.TransactionClient,
  { personId, sessionId }: AccountOwner,
): Promise<void> {
  await endSessions(transaction, { personId, id: { not: sessionId } }, 'credentials_changed');
}

function wrongCode(): UnauthorizedError {
  return new UnauthorizedError('The code is wrong, or was used already', { code: 'second_factor_refused' });
}
