import { organizationEvents } from '../events/organization-events.ts';
import type { Prisma } from '../generated/client.ts';

/**
 * Ends an identity: it acts here no more, and the other services hear of it once, however often this is asked for. Whoever removes
 * or deactivates somebody does it by this. The account that an organization begins with stays.
 */
export async function endIdentity(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityId: string,
): Promise<void> {
  const { count } = await transaction.identity.updateMany({
    where: { organizationId, id: identityId, isBootstrap: false, disabledAt: null },
    data: { disabledAt: new Date() },
  });
  if (count > 0) await organizationEvents.identityRemoved(transaction, { organizationId, identityId });
}
