import { organizationEvents } from '../../database/organization-events.ts';
import type { Prisma } from '../../generated/client.ts';
import { endMadeTokens } from './end-made-tokens.ts';

/** Why a session ended before its time. */
export type SessionEndReason =
  | 'signed_out'
  | 'signed_out_everywhere'
  | 'signed_out_by_provider'
  | 'role_changed'
  | 'disabled'
  | 'removed'
  | 'credentials_changed'
  | 'refresh_token_reused'
  | 'authorization_code_reused';

/**
 * Ends sessions with the tokens that programs made in them, and publishes it to caches. Also those that one of them opened
 * for a program while this waited for it, which the first statement did not see.
 *
 * @returns their number
 */
export async function endSessions(
  transaction: Prisma.TransactionClient,
  where: Prisma.SessionWhereInput,
  endReason: SessionEndReason,
): Promise<number> {
  let total = 0;
  for (;;) {
    const ended = await transaction.session.updateManyAndReturn({
      where: { AND: [where, { endedAt: null, expiresAt: { gt: new Date() } }] },
      data: { endedAt: new Date(), endReason },
      select: { id: true, clientId: true },
    });
    if (ended.length === 0) return total;
    total += ended.length;
    await organizationEvents.sessionsEnded(
      transaction,
      ended.map(({ id }) => id),
    );
    const ofPrograms = ended.filter(({ clientId }) => clientId !== null);
    await endMadeTokens(
      transaction,
      ofPrograms.map(({ id }) => id),
    );
  }
}
