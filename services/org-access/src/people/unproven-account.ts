import { ConflictError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { endSessions } from '../sessions/end-sessions.ts';
import { lockPerson } from '../sessions/lock-people.ts';

/**
 * Returns whether a person's account has never proved its address. Whoever had a link to the address may have made it, so
 * nothing may be given to the account because of the address.
 */
export async function isUnprovenAccount(queries: Queries, personId: string): Promise<boolean> {
  const account = await queries.passwordCredential.findFirst({
    where: { personId, person: { emailVerifiedAt: null } },
    select: { personId: true },
  });
  return account !== null;
}

/** @throws ConflictError when the account of one of the people has never proved its address */
export async function requireProvenAccounts(queries: Queries, people: readonly { id: string }[]): Promise<void> {
  const unproven = await queries.passwordCredential.findFirst({
    where: { personId: { in: people.map(({ id }) => id) }, person: { emailVerifiedAt: null } },
    orderBy: { person: { email: 'asc' } },
    select: { person: { select: { email: true } } },
  });
  if (!unproven) return;
  throw new ConflictError(`The account of ${unproven.person.email} has never verified its address: invite it instead`, {
    code: 'account_unproven',
  });
}

/** Takes everything from a person with which an account that never proved its address could sign in. */
export async function dropUnprovenAccount(transaction: Prisma.TransactionClient, personId: string): Promise<void> {
  await lockPerson(transaction, personId);
  await transaction.passwordCredential.deleteMany({ where: { personId } });
  await transaction.totpCredential.deleteMany({ where: { personId } });
  await transaction.recoveryCode.deleteMany({ where: { personId } });
  await transaction.passkey.deleteMany({ where: { personId } });
  await transaction.oneTimeToken.deleteMany({ where: { personId } });
  await transaction.login.deleteMany({ where: { personId, ssoProviderId: null } });
  await endSessions(transaction, { personId, ssoOrganizationId: null }, 'credentials_changed');
}
