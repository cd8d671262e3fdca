import { BadRequestError } from '@runyard/service-kit';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { audited } from '../../audit/audit-trail.ts';
import { actAs, changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { EmailOutbox } from '../../directory/email/email-outbox.ts';
import { addressState, proveAddress } from '../../directory/people/address-ownership.ts';
import { hashNewPassword, setPassword } from '../../directory/people/set-password.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { recordForPerson } from './audit-person.ts';
import { createToken, findToken, useToken } from './one-time-tokens.ts';

/** The account and the address that a link proves. */
export interface FoundVerification {
  email: string;
  /** True when the account's password ends with the proof, because its maker may be somebody else. */
  needsPassword: boolean;
}

/** Links with which people prove that an address is theirs. */
export class AddressVerification {
  readonly #database: Database;
  readonly #limit: AttemptLimit;
  readonly #emails: EmailOutbox;
  readonly #publicUrl: string;

  constructor(options: { database: Database; limit: AttemptLimit; emails: EmailOutbox; publicUrl: string }) {
    this.#database = options.database;
    this.#limit = options.limit;
    this.#emails = options.emails;
    this.#publicUrl = options.publicUrl.replace(/(?<!\/)\/+$/, '');
  }

  /** Sends a link that proves the address of a person. */
  async request(personId: string): Promise<void> {
    const person = await this.#database.prisma.person.findUniqueOrThrow({ where: { id: personId } });
    if (person.emailVerifiedAt || !this.#emails.isEnabled) return;
    const { email } = person;
    await this.#limit.take('verification', personId, changeOrigin().address);
    const { credentialId } = changeOrigin();
    const send = audited(async (transaction, audit) => {
      const link = await createToken(transaction, { purpose: 'verify_email', personId, email });
      const text = `Open this link to confirm that this address is yours:\n\n${this.#publicUrl}/auth/verify?token=${link.token}`;
      await this.#emails.enqueue(transaction, [
        { to: email, subject: 'Confirm your address', text, expiresAt: link.expiresAt },
      ]);
      await recordForPerson(transaction, audit, personId, { action: 'email.verification_requested', details: {} });
    });
    await actAs({ actorKind: 'person', actorId: personId, credentialId }, () => this.#database.transact(send));
  }

  /** Returns what a link proves; null when it does not work any more. */
  async find(token: string): Promise<FoundVerification | null> {
    const found = await findToken(this.#database.prisma, 'verify_email', token);
    if (!found?.personId || !found.email) return null;
    const state = await addressState(this.#database.prisma, found.personId);
    return { email: found.email, needsPassword: state === 'claimed' };
  }

  /**
   * Proves an address by the link that was sent there. An account that was only claimed ends.
   *
   * @param password the one with which its owner signs in from then on; without it, such an account has none
   * @throws BadRequestError when the link does not work any more, InvalidFieldError
   */
  async verify(token: string, password?: string): Promise<void> {
    const found = await findToken(this.#database.prisma, 'verify_email', token);
    if (!found?.personId || !found.email) throw linkExpired();
    const { personId, email } = found;
    const hash = password === undefined ? null : await hashNewPassword(password, email);
    const verify = audited(async (transaction, audit) => {
      await lockPerson(transaction, personId);
      if (!(await useToken(transaction, 'verify_email', token))) throw linkExpired();
      // An identity provider may have moved the person to another address, which the link proves nothing about.
      if ((await transaction.person.count({ where: { id: personId, email } })) === 0) throw linkExpired();
      const before = await proveAddress(transaction, personId);
      if (hash && before === 'claimed') await setPassword(transaction, { personId, hash });
      const details = before === 'claimed' ? { replacesUnprovenAccount: true } : {};
      await recordForPerson(transaction, audit, personId, { action: 'email.verified', details });
    });
    await this.#database.transact(verify);
  }
}

export function linkExpired(): BadRequestError {
  return new BadRequestError('This link has been used, or has expired', { code: 'link_expired' });
}
