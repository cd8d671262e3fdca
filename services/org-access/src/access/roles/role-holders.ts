import { ConflictError } from '@runyard/service-kit';
import type { Prisma } from '../../generated/client.ts';

/** Holders that an answer names; it counts the others. */
const NAMED_MAX = 5;

export interface RoleHolder {
  identityId: string;
  name: string;
}

/** Accounts that ended keep their last role, which gives them nothing. People who are disabled may come back. */
const ENDED: Prisma.IdentityWhereInput = {
  OR: [{ isRemoved: true }, { kind: 'service_account', disabledAt: { not: null } }],
};

/** Returns the people and service accounts that have a role, or a grant of it that another one overrides. */
export async function listHolders(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  roleId: string,
): Promise<RoleHolder[]> {
  const identities = await transaction.identity.findMany({
    where: {
      organizationId,
      NOT: ENDED,
      OR: [{ everywhereRoleId: roleId }, { members: { some: { roleId } } }, { grants: { some: { roleId } } }],
    },
    select: { id: true, name: true },
    orderBy: { id: 'asc' },
  });
  return identities.map(({ id, name }) => ({ identityId: id, name }));
}

/** @throws ConflictError that names members, service accounts, invites and identity providers with the role */
export async function requireUnused(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  roleId: string,
): Promise<void> {
  const members = await listHolders(transaction, organizationId, roleId);
  const invites = await transaction.invite.findMany({
    where: { organizationId, endedAt: null, expiresAt: { gt: new Date() }, workspaces: { some: { roleId } } },
    select: { email: true },
    orderBy: { id: 'asc' },
  });
  const providers = await transaction.ssoProvider.findMany({
    where: { organizationId, defaultWorkspaceRoleId: roleId },
    select: { displayName: true },
    orderBy: { id: 'asc' },
  });
  const uses = [
    describeUse(
      'member or key',
      members.map(({ name }) => name),
    ),
    describeUse(
      'invite',
      invites.map(({ email }) => email),
    ),
    describeUse(
      'identity provider',
      providers.map(({ displayName }) => displayName),
    ),
  ].filter((each) => each !== null);
  if (uses.length > 0) throw new ConflictError(`The role is in use: ${uses.join('; ')}`, { code: 'role_in_use' });
}

function describeUse(noun: string, names: readonly string[]): string | null {
  if (names.length === 0) return null;
  const named = names.slice(0, NAMED_MAX).map((name) => JSON.stringify(name));
  const others = names.length > NAMED_MAX ? [`${names.length - NAMED_MAX} more`] : [];
  return `${noun} ${[...named, ...others].join(', ')}`;
}

/** Takes a role from identities that ended, whose rows refer to it still. */
export async function endUseByFormerHolders(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  roleId: string,
): Promise<void> {
  await transaction.member.deleteMany({ where: { organizationId, roleId, identity: ENDED } });
  await transaction.roleGrant.deleteMany({ where: { organizationId, roleId, identity: ENDED } });
  await transaction.identity.updateMany({
    where: { organizationId, everywhereRoleId: roleId, ...ENDED },
    data: { everywhereRoleId: null },
  });
}
