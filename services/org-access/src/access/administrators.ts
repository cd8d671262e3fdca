import { takeAdvisoryLock } from '@runyard/database';
import { ConflictError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';
import { PLATFORM_ROLES } from './platform-roles.ts';

const ADMINISTRATOR = {
  organizationRoleId: PLATFORM_ROLES.organizationAdmin,
  kind: 'person',
  disabledAt: null,
  isRemoved: false,
} as const satisfies Prisma.IdentityWhereInput;

/**
 * Runs a change of people's roles or identities, and refuses one after which nobody would administer the organization.
 * Whoever demotes, disables or removes a person has to use this function; `applyGrants` does so by itself. Such changes
 * of one organization wait for each other, so that two administrators cannot remove one another at once. Service accounts
 * do not count: their keys may be lost.
 *
 * @param change is called after the lock is taken and must not have locked rows of identities before
 * @throws ConflictError `last_administrator`
 */
export async function keepAdministrator<Result>(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  change: () => Promise<Result>,
): Promise<Result> {
  await lockAdministrators(transaction, organizationId);
  const hadOne = await hasAdministrator(transaction, organizationId);
  const result = await change();
  if (hadOne && !(await hasAdministrator(transaction, organizationId))) {
    throw new ConflictError('An organization needs at least one Organization Admin, and this is the last one', {
      code: 'last_administrator',
      // Clients repeat conflicts by themselves, and this one would be the same each time.
      headers: { 'x-should-retry': 'false' },
    });
  }
  return result;
}

/** Takes the lock of `keepAdministrator`, for a transaction that locks an identity and changes roles afterwards. */
export async function lockAdministrators(transaction: Prisma.TransactionClient, organizationId: string): Promise<void> {
  await takeAdvisoryLock(transaction, `administrators of ${organizationId}`);
}

/** Returns whether a person administers an organization, by any kind of sign-in. */
export async function isAdministered(queries: Queries, organizationId: string): Promise<boolean> {
  const administrator = await queries.identity.findFirst({
    where: { ...ADMINISTRATOR, organizationId },
    select: { id: true },
  });
  return administrator !== null;
}

/**
 * Returns the person who has administered an organization for the longest time, and can do so in a session of their
 * account: who was added and never took the membership up cannot. Null when there is none.
 */
export async function findFirstAdministrator(queries: Queries, organizationId: string): Promise<string | null> {
  const canAct: Prisma.IdentityWhereInput[] = [{ isAccepted: true }, { person: { emailVerifiedAt: { not: null } } }];
  const administrator = await queries.identity.findFirst({
    where: { ...ADMINISTRATOR, organizationId, personId: { not: null }, OR: canAct },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    select: { personId: true },
  });
  return administrator?.personId ?? null;
}

async function hasAdministrator(transaction: Prisma.TransactionClient, organizationId: string): Promise<boolean> {
  const { ssoOnly } = await transaction.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { ssoOnly: true },
  });
  // With `sso_only`, administrators without such a login could not get in.
  const canSignIn = { person: { logins: { some: { ssoProvider: { organizationId, isEnabled: true } } } } };
  const administrator = await transaction.identity.findFirst({
    where: {
      ...(ssoOnly && canSignIn),
      organizationId,
      ...ADMINISTRATOR,
    },
    select: { id: true },
  });
  return administrator !== null;
}
