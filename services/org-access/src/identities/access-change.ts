import { organizationEvents } from '../events/organization-events.ts';
import type { Prisma } from '../generated/client.ts';
import { endSessions, type SessionEndReason } from '../sessions/end-sessions.ts';
import { lockPeople } from '../sessions/lock-people.ts';

/**
 * Ends what identities have open after their rights changed: the sessions of the people, and what caches know of their
 * credentials. A sign-in at the same time sees the change, or its session ends too. Whoever changes rows of the identities
 * does so before.
 */
export async function publishAccessChange(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityIds: readonly string[],
  reason: SessionEndReason,
): Promise<void> {
  const people = await transaction.identity.findMany({
    where: { organizationId, id: { in: [...identityIds] }, personId: { not: null } },
    select: { personId: true },
  });
  const personIds = people.map(({ personId }) => personId as string);
  await lockPeople(transaction, personIds);
  await endSessions(
    transaction,
    {
      personId: { in: personIds },
      OR: [{ ssoOrganizationId: null }, { ssoOrganizationId: organizationId }],
    },
    reason,
  );
  await organizationEvents.identitiesChanged(transaction, { organizationId, identityIds });
}
