import { ConflictError } from '@runyard/service-kit';
import type { Queries } from '../../database/database.ts';
import { normalizeEmail } from '../../directory/people/normalize-email.ts';
import { peopleStore } from '../../directory/people/people-store.ts';
import { setPasswords } from '../../directory/people/set-password.ts';
import type { Person, Prisma } from '../../generated/client.ts';
import { ensureEmailLogins } from './email-login.ts';

/** An account that is to be made. */
export interface NewAccount {
  email: string;
  fullName: string | null;
  /** The hash of its password. */
  hash: string;
}

/** Returns whether somebody with a link of an organization to this address may make an account for it. */
export async function mayMakeAccount(queries: Queries, organizationId: string, email: string): Promise<boolean> {
  return (await findAccounts(queries, organizationId, [email])).length === 0;
}

/**
 * Returns the addresses among these for which an organization makes no account: they are proven, there is an account, or
 * their people are its members, whom it lets in by other means. Memberships and logins of other organizations are no
 * obstacle: the new account reaches none of them before it proves the address.
 */
export async function findAccounts(
  queries: Queries,
  organizationId: string,
  emails: readonly string[],
): Promise<string[]> {
  const found = await queries.person.findMany({
    where: {
      email: { in: emails.map(normalizeEmail) },
      OR: [
        { emailVerifiedAt: { not: null } },
        { password: { isNot: null } },
        { passkeys: { some: {} } },
        { identities: { some: { organizationId, isRemoved: false } } },
      ],
    },
    select: { email: true },
    orderBy: { email: 'asc' },
  });
  return found.map(({ email }) => email);
}

/** Like `makeAccounts`, for one person. */
export async function makeAccount(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  account: NewAccount,
  provisioning: 'invite' | 'bootstrap',
): Promise<Person> {
  return (await makeAccounts(transaction, organizationId, [account], provisioning))[0]!;
}

/**
 * Makes the accounts of new people: the number of statements does not depend on theirs. The addresses are not verified by
 * it.
 *
 * @throws ConflictError when there is one already
 * @returns the people, in the given order
 */
export async function makeAccounts(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  accounts: readonly NewAccount[],
  provisioning: 'invite' | 'bootstrap' | 'manual',
): Promise<Person[]> {
  const people = await peopleStore.findOrCreateAll(transaction, accounts);
  const ids = people.map(({ id }) => id);
  // The second of two requests at once sees what the first made, and nobody makes one of them a member meanwhile.
  await transaction.$queryRaw`SELECT id FROM person WHERE id = ANY(${ids}::uuid[]) ORDER BY id FOR UPDATE`;
  const existing = await findAccounts(
    transaction,
    organizationId,
    accounts.map(({ email }) => email),
  );
  if (existing.length > 0)
    throw new ConflictError('There is an account with this address: sign in instead', { code: 'account_exists' });
  await transaction.$executeRaw`
    UPDATE person SET full_name = given.full_name, updated_at = now()
    FROM unnest(${ids}::uuid[], ${accounts.map(({ fullName }) => fullName)}::text[]) AS given (id, full_name)
    WHERE person.id = given.id AND given.full_name IS NOT NULL`;
  await ensureEmailLogins(transaction, people, provisioning);
  await setPasswords(
    transaction,
    accounts.map(({ hash }, index) => ({ personId: ids[index]!, hash })),
  );
  return people.map((person, index) => ({ ...person, fullName: accounts[index]!.fullName ?? person.fullName }));
}
