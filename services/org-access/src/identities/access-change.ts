import { organizationEvents } from '../events/organization-events.ts';
import type { Prisma } from '../generated/client.ts';
import { endSessions, type SessionEndReason } from '../sessions/end-sessions.ts';

/**
 * Ends what identities have open after their rights changed: the sessions of the people, and what caches know of their
 * credentials.
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
  await endSessions(
    transaction,
    {
      personId: { in: people.map(({ personId }) => personId as string) },
      OR: [{ ssoOrganizationId: null }, { ssoOrganizationId: organizationId }],
    },
    reason,
  );
  await organizationEvents.identitiesChanged(transaction, { organizationId, identityIds });
}
