import { ConflictError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Person, Prisma } from '../generated/client.ts';
import { normalizeEmail } from '../people/normalize-email.ts';
import { peopleStore } from '../people/people-store.ts';
import { setPassword } from '../people/set-password.ts';
import { ensureEmailLogin } from './email-login.ts';

/**
 * Returns whether somebody with a link to this address may make an account for it. Who belongs to an organization already
 * or has signed in before has to sign in: the link of one organization is no key to what a person has in another.
 */
export async function mayMakeAccount(queries: Queries, email: string): Promise<boolean> {
  const person = await queries.person.findUnique({
    where: { email: normalizeEmail(email) },
    include: { password: true, _count: { select: { identities: true, logins: true, passkeys: true } } },
  });
  if (!person) return true;
  const { identities, logins, passkeys } = person._count;
  return !person.password && identities + logins + passkeys === 0;
}

/**
 * Makes the account of a new person. The address is not verified by it.
 *
 * @throws ConflictError when there is one
 */
export async function makeAccount(
  transaction: Prisma.TransactionClient,
  account: { email: string; fullName: string | null; hash: string; provisioning: 'invite' | 'bootstrap' | 'manual' },
): Promise<Person> {
  const { email, fullName, hash, provisioning } = account;
  const { id } = await peopleStore.findOrCreate(transaction, { email, fullName });
  // The second of two requests at once sees what the first made.
  await transaction.$queryRaw`SELECT id FROM person WHERE id = ${id}::uuid FOR UPDATE`;
  if (!(await mayMakeAccount(transaction, email)))
    throw new ConflictError('There is an account with this address: sign in instead', { code: 'account_exists' });
  const person = await transaction.person.update({ where: { id }, data: fullName === null ? {} : { fullName } });
  await ensureEmailLogin(transaction, person, provisioning);
  await setPassword(transaction, { personId: id, hash });
  return person;
}
