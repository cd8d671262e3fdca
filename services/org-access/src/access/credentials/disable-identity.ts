import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';

/**
 * Disables an identity, and notifies the other services once, however often it is called. Whoever removes or
 * deactivates an identity has to use this function. It does not affect the organization's first account.
 */
export async function disableIdentity(
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
