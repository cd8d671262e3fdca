import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';
import { endSessions, type SessionEndReason } from './end-sessions.ts';
import { lockPeople } from './lock-people.ts';

/**
 * Ends what identities have open after their rights changed: the sessions of the organization's identity providers, and
 * what caches know of credentials. Sessions of accounts stay: they are the person's, who may belong to other organizations,
 * and what they may do here is read anew at each request. They end with the last membership. A sign-in at the same time
 * sees the change, or its session ends too. Whoever changes rows of the identities does so before.
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
  await endSessions(transaction, { personId: { in: personIds }, ssoOrganizationId: organizationId }, reason);
  if (reason === 'removed' || reason === 'disabled') {
    const isNowhere = { identities: { none: { isRemoved: false, disabledAt: null } } };
    await endSessions(transaction, { personId: { in: personIds }, person: isNowhere }, reason);
  }
  await organizationEvents.identitiesChanged(transaction, { organizationId, identityIds });
}
