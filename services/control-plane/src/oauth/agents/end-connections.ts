import type { Tenant } from '@runyard/service-kit';
import type { Prisma } from '../../generated/client.ts';

/**
 * Ends what was connected to a deployment that is being deleted: by its id, and by the name of its agent unless another
 * deployment has that: the name is free to others from here on, who must not get what was given to this one. Tokens
 * that nobody could use any more are deleted.
 */
export async function endConnections(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId, id, agentId }: Tenant & { id: string; agentId: string | null },
): Promise<void> {
  const ended = await transaction.$queryRaw<{ tokenId: string }[]>`
    DELETE FROM oauth_agent_connection
    WHERE organization_id = ${organizationId}::uuid AND workspace_id = ${workspaceId}::uuid
      AND (lower(agent_id) = ${id}
        OR (agent_id = ${agentId} AND NOT EXISTS (
          SELECT 1 FROM deployment
          WHERE workspace_id = ${workspaceId}::uuid AND agent_id = ${agentId} AND delete_requested_at IS NULL)))
    RETURNING token_id::text AS "tokenId"`;
  await transaction.oAuthToken.deleteMany({
    where: { id: { in: ended.map(({ tokenId }) => tokenId) }, owner: null, connections: { none: {} } },
  });
}
