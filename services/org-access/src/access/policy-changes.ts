import { organizationEvents } from '../database/organization-events.ts';
import type { Prisma } from '../generated/client.ts';

/** Lets caches of the organization's credentials ask again after its policies changed. */
export async function publishPolicyChange(
  transaction: Prisma.TransactionClient,
  organizationId: string,
): Promise<void> {
  await organizationEvents.settingsChanged(transaction, { organizationId });
}

/** Lets them ask again after tags changed, where policies may match these. */
export async function publishTagChange(transaction: Prisma.TransactionClient, organizationId: string): Promise<void> {
  const { hasAccessPolicies } = await transaction.organization.findUniqueOrThrow({
    where: { id: organizationId },
    select: { hasAccessPolicies: true },
  });
  if (hasAccessPolicies) await publishPolicyChange(transaction, organizationId);
}
