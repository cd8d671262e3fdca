import type { ComputeConfig } from '@runyard/contracts';
import { DRIVER_KINDS } from '@runyard/deployments';
import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { Listener, Prisma } from '../generated/client.ts';
import type { PageRequest } from '../revisions/deployment-store.ts';

const FOR_IMAGES = DRIVER_KINDS.filter(({ accepts }) => accepts === 'image').map(({ computeType }) => computeType);

/** Queries listeners for callers, always within one workspace. */
export const listenerStore = {
  find(queries: Queries, { organizationId, workspaceId }: Tenant, id: string): Promise<Listener | null> {
    return queries.listener.findFirst({ where: { organizationId, workspaceId, id } });
  },

  /**
   * Finds the listener and locks its row until the transaction ends, so that its lease and its deployments' reports do
   * not change.
   */
  async findForChange(transaction: Prisma.TransactionClient, tenant: Tenant, id: string): Promise<Listener | null> {
    await transaction.$queryRaw`
      SELECT 1 FROM listener
      WHERE id = ${id}::uuid AND workspace_id = ${tenant.workspaceId}::uuid
        AND organization_id = ${tenant.organizationId}::uuid
      FOR NO KEY UPDATE`;
    return listenerStore.find(transaction, tenant, id);
  },

  /** Lists the newest first. */
  list(queries: Queries, tenant: Tenant, { limit, offset }: PageRequest): Promise<Listener[]> {
    return queries.listener.findMany({
      where: tenant,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
      skip: Math.min(offset, 2 ** 31 - 1),
    });
  },

  /** Returns the ids of listeners that run images, the oldest first. */
  async idsForImages(queries: Queries, { organizationId, workspaceId }: Tenant): Promise<string[]> {
    const rows = await queries.listener.findMany({
      where: { organizationId, workspaceId, computeType: { in: FOR_IMAGES } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      select: { id: true },
    });
    return rows.map((row) => row.id);
  },

  namespacesOf(listener: Listener): string[] {
    return (listener.computeConfig as ComputeConfig).k8s_namespaces ?? [];
  },
};
