import { organizationEvents } from '../events/organization-events.ts';
import type { Prisma } from '../generated/client.ts';

/** Why a session ended before its time. */
export type SessionEndReason =
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'signed_out_by_provider'
  | 'role_changed'
  | 'disabled'
  | 'removed'
  | 'credentials_changed'
  | 'refresh_token_reused';

/** Ends sessions, and tells caches. @returns their number */
export async function endSessions(
  transaction: Prisma.TransactionClient,
  where: Prisma.SessionWhereInput,
  endReason: SessionEndReason,
): Promise<number> {
  const ended = await transaction.session.updateManyAndReturn({
    where: { AND: [where, { endedAt: null, expiresAt: { gt: new Date() } }] },
    data: { endedAt: new Date(), endReason },
    select: { id: true },
  });
  for (const { id } of ended) await organizationEvents.sessionEnded(transaction, { sessionId: id });
  return ended.length;
}
