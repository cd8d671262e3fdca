import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';

/** Revokes the personal access tokens that programs made in sessions, and those made with these. Publishes it to caches. */
export async function endMadeTokens(
  transaction: Prisma.TransactionClient,
  sessionIds: readonly string[],
): Promise<void> {
  for (let makers = sessionIds; makers.length > 0; ) {
    const revoked = await transaction.apiKey.updateManyAndReturn({
      where: { madeWith: { in: [...makers] }, revokedAt: null },
      data: { revokedAt: new Date() },
      select: { id: true, organizationId: true },
    });
    await organizationEvents.keysRevoked(transaction, revoked);
    makers = revoked.map(({ id }) => id);
  }
}
