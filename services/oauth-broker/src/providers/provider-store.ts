import { toSqlText } from '@runyard/database';
import type { Queries } from '../database/database.ts';
import type { OAuthProvider } from '../generated/client.ts';

/** Queries providers for callers, always within one organization. */
export const providerStore = {
  find(queries: Queries, organizationId: string, providerId: string): Promise<OAuthProvider | null> {
    return queries.oAuthProvider.findUnique({
      where: { organizationId_providerId: { organizationId, providerId: toSqlText(providerId) } },
    });
  },

  /** Lists the oldest first. */
  list(queries: Queries, organizationId: string): Promise<OAuthProvider[]> {
    return queries.oAuthProvider.findMany({
      where: { organizationId },
      orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    });
  },
};
