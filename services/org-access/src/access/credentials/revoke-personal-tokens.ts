import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';

/** Revokes the personal access tokens of people in an organization. The events let caches drop them before their time. */
export async function revokePersonalTokens(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  identityIds: readonly string[],
): Promise<void> {
  const revoked = await transaction.apiKey.updateManyAndReturn({
    where: { organizationId, identityId: { in: [...identityIds] }, kind: 'personal_token', revokedAt: null },
    data: { revokedAt: new Date() },
    select: { id: true, organizationId: true },
  });
  await organizationEvents.keysRevoked(transaction, revoked);
}
