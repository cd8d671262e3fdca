import type { Queries } from '../database/database.ts';
import type { Prisma } from '../generated/client.ts';

/** Ends unfinished authorizations, including those whose code is being exchanged. Their tokens are not stored. */
export async function endFlows(queries: Queries, which: Prisma.OAuthFlowWhereInput): Promise<void> {
  await queries.oAuthFlow.updateMany({
    where: { ...which, status: { in: ['pending', 'exchanging'] } },
    data: { status: 'failed' },
  });
}
