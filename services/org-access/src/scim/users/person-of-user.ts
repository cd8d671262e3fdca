import { keepAdministrator } from '../../access/administrators.ts';
import { endSessions } from '../../access/credentials/end-sessions.ts';
import { lockPeople } from '../../access/credentials/lock-people.ts';
import { PLATFORM_ROLES } from '../../access/platform-roles.ts';
import { addGrants, applyGrants } from '../../access/role-grants.ts';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import { organizationEvents } from '../../database/organization-events.ts';
import { provisionMember } from '../../directory/members/provision-member.ts';
import { isNamedBy } from '../../directory/people/address-ownership.ts';
import { peopleStore } from '../../directory/people/people-store.ts';
import type { Prisma, ScimUser } from '../../generated/client.ts';
import { notUnique } from '../scim-error.ts';
import { displayNameOf, type UserColumns } from './scim-user.ts';

/** The role of people whom no group gives one. */
const GRANT = { workspaceId: null, roleId: PLATFORM_ROLES.organizationUser, source: 'scim', sourceId: null } as const;

/**
 * Finds the person with the work address, or creates one, and makes them a member. A member stays who they are, and is
 * kept by the identity provider from now on.
 *
 * @returns the id of the identity
 * @throws ConflictError when another user is this member already
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
    return provisionMember(transaction, audit, {
      ...{ organizationId, personId: person.id, name, isAccepted: false, grants: [GRANT] },
    });
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
 * Gives the member the name and the address of the user. A member who took the membership up with an account keeps the
 * account's address. Where only this organization knows the person, the address of the person changes; where others do too,
 * they keep theirs, and the member becomes the person with the new address: no organization moves what is not its own.
 *
 * @throws ConflictError when another member has the address
 */
export async function updatePerson(
  transaction: Prisma.TransactionClient,
  { organizationId, identityId }: Pick<ScimUser, 'organizationId' | 'identityId'>,
  user: UserColumns,
): Promise<void> {
  const fullName = displayNameOf(user);
  await transaction.identity.updateMany({ where: { organizationId, id: identityId }, data: { name: fullName } });
  const { person, isAccepted } = await transaction.identity.findFirstOrThrow({
    where: { organizationId, id: identityId },
    include: { person: { include: { password: true } } },
  });
  if (!person) return;
  if (await isNamedBy(transaction, organizationId, person.id))
    await transaction.person.update({ where: { id: person.id }, data: { fullName } });
  const isOfAccount = isAccepted || (person.emailVerifiedAt !== null && person.password !== null);
  if (person.email === user.email || isOfAccount) return;
  const owner = await transaction.person.findUnique({ where: { email: user.email }, select: { id: true } });
  if (!owner && (await isKnownHereAlone(transaction, organizationId, person.id)))
    await transaction.person.update({ where: { id: person.id }, data: { email: user.email, emailVerifiedAt: null } });
  else await moveMember(transaction, { organizationId, identityId, fromPersonId: person.id }, user);
}

/** Returns whether no other organization has the person as a member, a user of its provider, or with an account. */
async function isKnownHereAlone(
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

/** Makes a member the person with another address, with the logins at the organization's own providers. */
async function moveMember(
  transaction: Prisma.TransactionClient,
  { organizationId, identityId, fromPersonId }: { organizationId: string; identityId: string; fromPersonId: string },
  user: UserColumns,
): Promise<void> {
  const { id: personId } = await peopleStore.findOrCreate(transaction, {
    email: user.email,
    fullName: displayNameOf(user),
  });
  const members = await transaction.identity.count({ where: { organizationId, personId, isRemoved: false } });
  if (members > 0) throw notUnique('work address');
  await transaction.identity.updateMany({ where: { organizationId, id: identityId }, data: { personId } });
  await lockPeople(transaction, [fromPersonId, personId]);
  await transaction.login.updateMany({
    where: { personId: fromPersonId, ssoProvider: { organizationId } },
    data: { personId },
  });
  await endSessions(transaction, { personId: fromPersonId, ssoOrganizationId: organizationId }, 'credentials_changed');
  await organizationEvents.identitiesChanged(transaction, { organizationId, identityIds: [identityId] });
}
