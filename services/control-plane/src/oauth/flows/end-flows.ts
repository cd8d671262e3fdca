import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';

/** Ends authorizations under way, also those whose code is being exchanged: what comes of it is not kept. */
export async function endFlows(queries: Queries, which: Prisma.OAuthFlowWhereInput): Promise<void> {
  await queries.oAuthFlow.updateMany({
    where: { ...which, status: { in: ['pending', 'exchanging'] } },
    data: { status: 'failed' },
  });
}
