import { keepAdministrator } from '../../access/administrators.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { addGrants, applyGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma, ScimUser } from '../../generated/client.ts';
import { provisionMember } from '../../members/provision-member.ts';
import { peopleStore } from '../../people/people-store.ts';
import { requireProvenAccounts } from '../../people/unproven-account.ts';
import { notUnique } from '../scim-error.ts';
import { displayNameOf, type UserColumns } from './scim-user.ts';

/** The role of people whom no group gives one. */
const GRANT = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser, source: 'scim', sourceId: null } as const;

/**
 * Finds the person with the work address, or creates one, and makes them a member. A member stays who they are, and is
 * kept by the identity provider from now on.
 *
 * @returns the id of the identity
 * @throws ConflictError when another user is this member already, or an account has never verified the address
 */
export async function findOrProvision(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
  user: UserColumns,
): Promise<string> {
  const name = displayNameOf(user);
  const person = await peopleStore.findOrCreate(transaction, { email: user.email, fullName: name });
  const identity = await transaction.identity.findFirst({
    where: { organizationId, personId: person.id, isRemoved: false },
    select: { id: true, scimUser: { select: { id: true } } },
  });
  if (!identity) {
    await requireProvenAccounts(transaction, [person]);
    return provisionMember(transaction, audit, { organizationId, personId: person.id, name, grants: [GRANT] });
  }
  if (identity.scimUser) throw notUnique('work address');
  return keepAdministrator(transaction, organizationId, async () => {
    await transaction.identity.updateMany({ where: { organizationId, id: identity.id }, data: { name } });
    await addGrants(transaction, organizationId, [{ ...GRANT, identityId: identity.id }]);
    await applyGrants(transaction, organizationId, [identity.id]);
    return identity.id;
  });
}

/**
 * Gives the person the name and the address of the user. The address changes only for a person of this organization
 * alone, who signs in through it alone: no organization may move someone else's account to another address.
 */
export async function updatePerson(
  transaction: Prisma.TransactionClient,
  { organizationId, identityId }: Pick<ScimUser, 'organizationId' | 'identityId'>,
  user: UserColumns,
): Promise<void> {
  const fullName = displayNameOf(user);
  await transaction.identity.updateMany({ where: { organizationId, id: identityId }, data: { name: fullName } });
  const { personId } = await transaction.identity.findFirstOrThrow({ where: { organizationId, id: identityId } });
  if (personId === null || !(await isOfOrganizationAlone(transaction, organizationId, personId))) return;
  const owner = await transaction.person.findUnique({ where: { email: user.email }, select: { id: true } });
  if (owner && owner.id !== personId) {
    await transaction.person.update({ where: { id: personId }, data: { fullName } });
    return;
  }
  await transaction.person.update({
    where: { id: personId },
    data: { fullName, email: user.email, ...(owner ? {} : { emailVerifiedAt: null }) },
  });
}

async function isOfOrganizationAlone(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  personId: string,
): Promise<boolean> {
  const other = await transaction.person.findFirst({
    where: {
      id: personId,
      OR: [
        { identities: { some: { organizationId: { not: organizationId }, isRemoved: false } } },
        { logins: { some: { ssoProviderId: null } } },
        { logins: { some: { ssoProvider: { organizationId: { not: organizationId } } } } },
        { password: { isNot: null } },
        { passkeys: { some: {} } },
      ],
    },
    select: { id: true },
  });
  return other === null;
}
