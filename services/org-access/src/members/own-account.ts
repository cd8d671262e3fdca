import { ConflictError, type Principal } from '@runyard/service-kit';
import type { Prisma } from '../generated/client.ts';

/**
 * Locks a person, so that nobody makes them a member elsewhere meanwhile, and returns whether an organization may set
 * their password: it is the only one they belong to, and no identity provider or passkey signs them in.
 */
export async function ownsAccount(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string,
): Promise<boolean> {
  if (!(await isOnlyOrganization(transaction, organizationId, personId))) return false;
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
  if (await isOnlyOrganization(transaction, organizationId, personId)) return;
  throw factorsOfPerson('Only the person changes these second factors');
}

/** Locks a person, and returns whether they belong to one organization alone and sign in by no identity provider. */
async function isOnlyOrganization(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string,
): Promise<boolean> {
  await transaction.$queryRaw`SELECT id FROM person WHERE id = ${personId}::uuid FOR UPDATE`;
  const identities = await transaction.identity.findMany({
    where: { personId, isRemoved: false },
    select: { organizationId: true },
  });
  if (identities.length !== 1 || identities[0]!.organizationId !== organizationId) return false;
  return (await transaction.login.count({ where: { personId, provider: { not: 'email' } } })) === 0;
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
