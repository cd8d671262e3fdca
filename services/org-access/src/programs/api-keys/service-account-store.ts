import type { Queries } from '../../database/database.ts';
import type { Prisma } from '../../generated/client.ts';

const RELATIONS = {
  members: {
    include: { workspace: { select: { displayName: true } } },
    orderBy: [{ createdAt: 'asc' }, { workspaceId: 'asc' }],
  },
  keys: {
    where: { lastUsedAt: { not: null } },
    select: { lastUsedAt: true },
    orderBy: { lastUsedAt: 'desc' },
    take: 1,
  },
} satisfies Prisma.IdentityInclude;

export type StoredServiceAccount = Prisma.IdentityGetPayload<{ include: typeof RELATIONS }>;

/** The first account of an organization is not among them: only bootstrap changes it. */
const active = (organizationId: string) =>
  ({ organizationId, kind: 'service_account', isBootstrap: false, disabledAt: null }) as const;

/** Queries the active service accounts of an organization. */
export const accountStore = {
  /** Lists the newest first. */
  list(queries: Queries, organizationId: string): Promise<StoredServiceAccount[]> {
    return queries.identity.findMany({
      where: active(organizationId),
      include: RELATIONS,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    });
  },

  find(queries: Queries, organizationId: string, id: string): Promise<StoredServiceAccount | null> {
    return queries.identity.findFirst({ where: { ...active(organizationId), id }, include: RELATIONS });
  },
};
