import { ConflictError, type Principal } from '@runyard/service-kit';
import type { Prisma } from '../../generated/client.ts';
import { isAccountOf } from '../people/address-ownership.ts';

/** Returns whether an organization may set a person's password: the account is its own, and no passkey signs in to it. */
export async function ownsAccount(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string,
): Promise<boolean> {
  if (!(await isAccountOf(transaction, organizationId, personId))) return false;
  return (await transaction.passkey.count({ where: { personId } })) === 0;
}

/**
 * Checks that an administrator may set a person's password. The own one is changed with the current one alone, so that
 * nobody takes an account over at an unlocked computer.
 *
 * @throws ConflictError
 */
export async function requireOwnAccount(
  transaction: Prisma.TransactionClient,
  { organizationId, personId: callerId }: Principal,
  personId: string,
): Promise<void> {
  if (callerId === personId) throw passwordOfPerson('You change your own password at /auth/account');
  if (await ownsAccount(transaction, organizationId, personId)) return;
  throw passwordOfPerson('Only the person sets this password');
}

/**
 * Checks that an administrator may remove a person's second factors: to whoever belongs to another organization too they
 * are what protects that one.
 *
 * @throws ConflictError
 */
export async function requireOwnFactors(
  transaction: Prisma.TransactionClient,
  { organizationId, personId: callerId }: Principal,
  personId: string,
): Promise<void> {
  if (callerId === personId) throw factorsOfPerson('You change your own second factors at /auth/account');
  if (await isAccountOf(transaction, organizationId, personId)) return;
  throw factorsOfPerson('Only the person changes these second factors');
}

/** Lets a member take the membership up with the account whose password an administrator sets. */
export async function acceptMembership(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string,
): Promise<void> {
  await transaction.identity.updateMany({
    where: { organizationId, personId, isRemoved: false },
    data: { isAccepted: true },
  });
}

const passwordOfPerson = (detail: string) =>
  new ConflictError(detail, { code: 'password_of_person', headers: { 'x-should-retry': 'false' } });

const factorsOfPerson = (detail: string) =>
  new ConflictError(detail, { code: 'second_factors_of_person', headers: { 'x-should-retry': 'false' } });

/**
 * Takes back the proof of a person's address. Who has a password from an administrator need not be its owner, and must
 * not get the invites that other organizations send there.
 */
export async function forgetVerification(transaction: Prisma.TransactionClient, personId: string): Promise<void> {
  await transaction.person.updateMany({ where: { id: personId }, data: { emailVerifiedAt: null } });
}
