import type { Prisma, Session } from '../../generated/client.ts';

/**
 * Selects the identities as which a session may act. One of an identity provider acts in its organization alone. One of
 * an account acts wherever its person is a member, and before the address is proven only where the membership was given to
 * the account itself: whoever made it must not get what others give to the owner of the address.
 */
export function identitiesInReach({
  personId,
  ssoOrganizationId,
}: Pick<Session, 'personId' | 'ssoOrganizationId'>): Prisma.IdentityWhereInput {
  const identity = { personId, isRemoved: false };
  if (ssoOrganizationId !== null) return { ...identity, organizationId: ssoOrganizationId };
  return { ...identity, OR: [{ isAccepted: true }, { person: { emailVerifiedAt: { not: null } } }] };
}

/**
 * Selects the sessions that a session may see and end: all of its person. A session of an identity provider speaks for the
 * person in its own organization alone, and one of an account that never proved its address for the account alone. One of
 * a program has only itself: it must not sign out whoever would end it.
 */
export function sessionsInReach({
  id,
  personId,
  clientId,
  ssoOrganizationId,
}: Pick<Session, 'id' | 'personId' | 'clientId' | 'ssoOrganizationId'>): Prisma.SessionWhereInput {
  if (clientId !== null) return { id, personId };
  if (ssoOrganizationId !== null) return { personId, ssoOrganizationId };
  return { personId, OR: [{ ssoOrganizationId: null }, { person: { emailVerifiedAt: { not: null } } }] };
}
