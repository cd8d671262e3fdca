import { NotFoundError, type Tenant } from '@runyard/service-kit';
import type { Prisma } from '../../generated/client.ts';

/** Makes the deletion of a workspace wait for the transaction. @throws NotFoundError when it is deleted already */
export async function requireLiveWorkspace(
  transaction: Prisma.TransactionClient,
  { organizationId, workspaceId }: Tenant,
): Promise<void> {
  const [live] = await transaction.$queryRaw<unknown[]>`
    SELECT 1 FROM workspace
    WHERE organization_id = ${organizationId}::uuid AND id = ${workspaceId}::uuid AND deleted_at IS NULL
    FOR SHARE`;
  if (!live) throw new NotFoundError('Workspace not found');
}
