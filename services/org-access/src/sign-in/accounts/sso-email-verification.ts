import { audited } from '../../audit/audit-trail.ts';
import { changeOrigin } from '../../audit/change-origin.ts';
import type { Database } from '../../database/database.ts';
import type { EmailOutbox } from '../../directory/email/email-outbox.ts';
import { normalizeEmail } from '../../directory/people/normalize-email.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import { evenTimeOut } from './even-time.ts';
import { createToken } from './one-time-tokens.ts';

/** A person as one names them before they are known. */
export interface NamedLogin {
  email: string;
  providerId: string;
}

/**
 * Links by which people confirm an address that an identity provider vouched for, which counts in the provider's own
 * organization alone. Strangers learn nothing of who has signed in by a provider.
 */
export class SsoEmailVerification {
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

  /** Sends a link to a member who signs in by the provider and never confirmed the address. @throws TooManyRequestsError */
  async send({ email: address, providerId }: NamedLogin): Promise<void> {
    const begun = performance.now();
    const email = normalizeEmail(address);
    await this.#limit.takeEmail('verification', email, changeOrigin().address);
    if (this.#emails.isEnabled) await this.#sendTo(email, providerId);
    await evenTimeOut(begun);
  }

  /** Returns when a link was confirmed that `send` sent; null for anybody else. @throws TooManyRequestsError */
  async findConfirmation({ email: address, providerId }: NamedLogin): Promise<Date | null> {
    await this.#limit.takeForAddress('status', changeOrigin().address);
    const email = normalizeEmail(address);
    const { prisma } = this.#database;
    const person = await prisma.person.findUnique({ where: { email }, select: { id: true } });
    if (!person) return null;
    const token = await prisma.oneTimeToken.findFirst({
      where: {
        ...{ personId: person.id, purpose: 'verify_email', email, usedAt: { not: null } },
        details: { path: ['ssoProviderId'], equals: providerId },
      },
      orderBy: { usedAt: 'desc' },
    });
    return token?.usedAt ?? null;
  }

  async #sendTo(email: string, ssoProviderId: string): Promise<void> {
    const login = await this.#database.prisma.login.findFirst({
      where: {
        ssoProviderId,
        ssoProvider: { isEnabled: true },
        person: { email, emailVerifiedAt: null },
      },
      include: { ssoProvider: { include: { organization: true } } },
    });
    if (!login) return;
    const { personId, ssoProvider } = login;
    const { organizationId } = ssoProvider!;
    const organization = ssoProvider!.organization.displayName;
    const send = audited(async (transaction, audit) => {
      const details = { ssoProviderId };
      const link = await createToken(transaction, { purpose: 'verify_email', personId, email, details });
      const text = [
        `Somebody signed in with this address by the single sign-on of ${organization}.`,
        `If it was you, confirm that the address is yours:\n\n${this.#publicUrl}/auth/verify?token=${link.token}`,
        'If it was not you, there is nothing to do.',
      ].join('\n\n');
      await this.#emails.enqueue(transaction, [
        { to: email, subject: 'Confirm your address', text, expiresAt: link.expiresAt },
      ]);
      const entry = { action: 'email.verification_requested', details } as const;
      audit.record(organizationId, { ...entry, resourceType: 'person', resourceId: personId });
    });
    await this.#database.transact(send);
  }
}
