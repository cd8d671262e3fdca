import { v7 as uuidv7 } from 'uuid';
import { proveAddress } from '../directory/people/address-ownership.ts';
import { peopleStore } from '../directory/people/people-store.ts';
import type { Login, Person, Prisma, SsoProvider } from '../generated/client.ts';

/** An identity provider's answer about a person, after it was verified. */
export interface VerifiedLogin {
  provider: SsoProvider;
  issuer: string;
  /** Never changes for a person; compared in lower case. */
  subject: string;
  /** Belongs to the person: verified by the provider, or the provider is trusted with it. */
  email: string;
  fullName: string | null;
  /** True when the provider requires a group that gives a role, and the person has none. */
  isWithoutRequiredGroup?: boolean;
}

/** The person that a login means, as far as there is one. */
export interface KnownPerson {
  person: Person | null;
  /** Null: the first sign-in with this account of the provider. */
  login: Login | null;
  /** True when SCIM created the person for this account. */
  isByScim: boolean;
  /** True when SCIM says that the address belongs to another account of the provider. */
  isOtherAccount: boolean;
}

/** Finds the person of a login: by the login itself, by what SCIM said of it, or by the address. It changes nothing. */
export async function findPerson(
  transaction: Prisma.TransactionClient,
  { provider, issuer, subject, email }: VerifiedLogin,
): Promise<KnownPerson> {
  const login = await transaction.login.findUnique({
    where: {
      ssoProviderId_issuer_subject: { ssoProviderId: provider.id, issuer, subject: subject.toLowerCase() },
    },
    include: { person: true },
  });
  if (login) return { person: login.person, login, isByScim: false, isOtherAccount: false };
  const { organizationId } = provider;
  const byScim = await transaction.scimUser.findFirst({
    where: {
      organizationId,
      externalId: { equals: escapePattern(subject), mode: 'insensitive' },
      identity: { isRemoved: false },
    },
    include: { identity: { include: { person: true } } },
  });
  if (byScim?.identity.person)
    return { person: byScim.identity.person, login: null, isByScim: true, isOtherAccount: false };
  const person = await peopleStore.findByEmail(transaction, email);
  const others = person
    ? await transaction.scimUser.count({
        where: { organizationId, externalId: { not: null }, identity: { personId: person.id, isRemoved: false } },
      })
    : 0;
  return { person, login: null, isByScim: false, isOtherAccount: others > 0 };
}

/** Stores the login of a person who was let in, and the person at the first sign-in. */
export async function rememberLogin(
  transaction: Prisma.TransactionClient,
  { provider, issuer, subject, email, fullName }: VerifiedLogin,
  { person: known, login, isByScim }: KnownPerson,
  options: {
    /**
     * False for providers of organizations that do not run the installation: they speak for nobody elsewhere, and an account
     * that somebody else made for the address stays beside their login, without a way into the organization.
     */
    isEmailVerified: boolean;
  },
): Promise<{ personId: string; loginId: string }> {
  if (login) {
    await transaction.login.update({ where: { id: login.id }, data: { lastUsedAt: new Date(), email } });
    return { personId: login.personId, loginId: login.id };
  }
  if (known && options.isEmailVerified) await proveAddress(transaction, known.id);
  const person =
    known ??
    (await peopleStore.findOrCreate(transaction, { email, fullName, isEmailVerified: options.isEmailVerified }));
  const isSaml = provider.protocol === 'saml';
  const { id: loginId } = await transaction.login.create({
    data: {
      id: uuidv7(),
      personId: person.id,
      provider: isSaml ? 'supabase:sso' : 'custom-oidc',
      ssoProviderId: provider.id,
      issuer,
      subject: subject.toLowerCase(),
      email,
      provisioning: isByScim ? 'scim' : isSaml ? 'saml:jit' : 'oidc:jit',
      lastUsedAt: new Date(),
    },
  });
  return { personId: person.id, loginId };
}

/** Prisma compares without case by ILIKE, to which some characters are patterns. */
function escapePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
