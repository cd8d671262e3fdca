import type { ComputeConfig } from '@runyard/contracts';
import type { Queries } from '../database/database.ts';
import type { Tenant } from '../deployments/caller-scope.ts';
import type { Page } from '../deployments/deployment-store.ts';
import type { Listener, Prisma } from '../generated/client.ts';

/** Listeners as callers see them: always those of one workspace. */
export const listenerStore = {
  find(queries: Queries, { organizationId, workspaceId }: Tenant, id: string): Promise<Listener | null> {
    return queries.listener.findFirst({ where: { organizationId, workspaceId, id } });
  },

  /** The same, held until the transaction ends: its lease and what its deployments were told stay as they are. */
  async findForChange(transaction: Prisma.TransactionClient, tenant: Tenant, id: string): Promise<Listener | null> {
    await transaction.$queryRaw`
      SELECT 1 FROM listener
      WHERE id = ${id}::uuid AND workspace_id = ${tenant.workspaceId}::uuid
        AND organization_id = ${tenant.organizationId}::uuid
      FOR NO KEY UPDATE`;
    return listenerStore.find(transaction, tenant, id);
  },

  /** Newest first. */
  list(queries: Queries, tenant: Tenant, { limit, offset }: Page): Promise<Listener[]> {
    return queries.listener.findMany({
      where: tenant,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
      skip: Math.min(offset, 2 ** 31 - 1),
    });
  },

  /** Oldest first: ids of those that run images. */
  async idsForImages(queries: Queries, { organizationId, workspaceId }: Tenant): Promise<string[]> {
    const rows = await queries.listener.findMany({
      where: { organizationId, workspaceId, computeType: { in: ['k8s', 'docker'] } },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      select: { id: true },
    });
    return rows.map((row) => row.id);
  },

  namespacesOf(listener: Listener): string[] {
    return (listener.computeConfig as ComputeConfig).k8s_namespaces ?? [];
  },
};
