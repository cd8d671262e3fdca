import type { Prisma } from '../../generated/client.ts';

/**
 * Selects the logins of people that an organization may see: at its own identity providers, and with the password of an
 * account that acts in it. What other organizations know of a person is nothing to it.
 */
export function loginsSeenBy(organizationId: string): Prisma.LoginWhereInput {
  const actsHere: Prisma.PersonWhereInput = {
    OR: [{ emailVerifiedAt: { not: null } }, { identities: { some: { organizationId, isAccepted: true } } }],
  };
  return { OR: [{ ssoProvider: { organizationId } }, { provider: 'email', person: actsHere }] };
}
