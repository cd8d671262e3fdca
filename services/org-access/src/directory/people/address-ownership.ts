import { endSessions } from '../../access/credentials/end-sessions.ts';
import { lockPerson } from '../../access/credentials/lock-people.ts';
import { revokePersonalTokens } from '../../access/credentials/revoke-personal-tokens.ts';
import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';

/**
 * Tells who owns an address.
 *
 * - `proven`: its person showed that they get its mail, or the default organization's identity provider said so. The account
 *   is theirs alone, in every organization.
 * - `claimed`: there is an account, but whoever made it showed nothing. An administrator or the holder of an invite's link
 *   may have made it, so it gives nobody anything because of the address.
 * - `free`: nobody can sign in to it with a password or a passkey.
 */
export type AddressState = 'proven' | 'claimed' | 'free';

export async function addressState(queries: Queries, personId: string): Promise<AddressState> {
  const { emailVerifiedAt, password, passkeys } = await queries.person.findUniqueOrThrow({
    where: { id: personId },
    select: {
      emailVerifiedAt: true,
      password: { select: { personId: true } },
      passkeys: { select: { id: true }, take: 1 },
    },
  });
  if (emailVerifiedAt) return 'proven';
  return password || passkeys.length > 0 ? 'claimed' : 'free';
}

/**
 * Records that a person has proved their address. An account that was only claimed until now ends with everything that
 * signs in to it or acts for it: its maker may know the password, and may have added a passkey.
 *
 * @returns the state of the address before
 */
export async function proveAddress(transaction: Prisma.TransactionClient, personId: string): Promise<AddressState> {
  await lockPerson(transaction, personId);
  const before = await addressState(transaction, personId);
  if (before === 'proven') return before;
  if (before === 'claimed') await endAccount(transaction, personId);
  await transaction.person.update({ where: { id: personId }, data: { emailVerifiedAt: new Date() } });
  return before;
}

/**
 * Returns whether an account is an organization's own, so that its administrators may set its password and remove its second
 * factors: its person took up no membership of another organization with it, and no identity provider of this one signs
 * them in. What other organizations gave to the address without being asked counts for nothing.
 *
 * The person is locked, so that they take up nothing meanwhile, and their identity here before that.
 */
export async function isAccountOf(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string,
): Promise<boolean> {
  await transaction.$queryRaw`
    SELECT id FROM identity WHERE organization_id = ${organizationId}::uuid AND person_id = ${personId}::uuid
    ORDER BY id FOR UPDATE`;
  await transaction.$queryRaw`SELECT id FROM person WHERE id = ${personId}::uuid FOR UPDATE`;
  const identities = await transaction.identity.findMany({
    where: { personId },
    select: { organizationId: true, isAccepted: true, isRemoved: true },
  });
  const elsewhere = identities.filter((identity) => identity.organizationId !== organizationId && !identity.isRemoved);
  if (elsewhere.some(({ isAccepted }) => isAccepted)) return false;
  const isByProvider = {
    provider: { not: 'email' },
    NOT: { ssoProvider: { organizationId: { not: organizationId } } },
  };
  if ((await transaction.login.count({ where: { personId, ...isByProvider } })) > 0) return false;
  if (identities.some((identity) => identity.organizationId === organizationId && identity.isAccepted)) return true;
  const state = await addressState(transaction, personId);
  return state === 'free' || (state === 'proven' && elsewhere.length === 0);
}

/** Returns whether an organization may say a person's name: no other one has them as a member who took that up. */
export async function isNamedBy(queries: Queries, organizationId: string, personId: string): Promise<boolean> {
  const elsewhere = { personId, organizationId: { not: organizationId }, isRemoved: false, isAccepted: true };
  return (await queries.identity.count({ where: elsewhere })) === 0;
}

async function endAccount(transaction: Prisma.TransactionClient, personId: string): Promise<void> {
  await transaction.passwordCredential.deleteMany({ where: { personId } });
  await transaction.totpCredential.deleteMany({ where: { personId } });
  await transaction.recoveryCode.deleteMany({ where: { personId } });
  await transaction.passkey.deleteMany({ where: { personId } });
  await transaction.oneTimeToken.deleteMany({ where: { personId, usedAt: null } });
  // Sessions refer to their login without a foreign key, and the next sign-in with a password makes it again.
  await transaction.login.deleteMany({ where: { personId, ssoProviderId: null } });
  await endSessions(transaction, { personId, ssoOrganizationId: null }, 'credentials_changed');
  const identities = await transaction.identity.findMany({
    where: { personId },
    select: { organizationId: true, id: true },
  });
  for (const { organizationId, id } of identities) await revokePersonalTokens(transaction, organizationId, [id]);
}
