import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';

const RELATIONS = {
  roles: { select: { roleId: true }, orderBy: { roleId: 'asc' } },
} satisfies Prisma.AccessPolicyInclude;

export type StoredPolicy = Prisma.AccessPolicyGetPayload<{ include: typeof RELATIONS }>;

/** Queries the access policies of one organization. */
export const policyStore = {
  list(queries: Queries, organizationId: string): Promise<StoredPolicy[]> {
    return queries.accessPolicy.findMany({
      where: { organizationId },
      include: RELATIONS,
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  },

  find(queries: Queries, organizationId: string, id: string): Promise<StoredPolicy | null> {
    return queries.accessPolicy.findFirst({ where: { organizationId, id }, include: RELATIONS });
  },
};
