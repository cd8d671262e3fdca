import type { Organization, OrganizationInfo } from '@runyard/contracts';
import { queryOptions } from '@tanstack/react-query';
import { ask } from './ask.ts';
import { at } from './path.ts';
import { RIGHTS_EVERY_MS } from './rights.ts';

/** The organization of a workspace, its settings, and what the person may do in it. */
export function organizationQuery(workspaceId: string) {
  return queryOptions({
    queryKey: ['organization', workspaceId],
    queryFn: ({ signal }) => ask<OrganizationInfo>(at`/api/v1/organizations/current/info`, { workspaceId, signal }),
    staleTime: RIGHTS_EVERY_MS,
    refetchInterval: RIGHTS_EVERY_MS,
  });
}

/** The organizations of the person, the oldest first. */
export const myOrganizationsQuery = queryOptions({
  queryKey: ['my-organizations'],
  queryFn: ({ signal }) => ask<Organization[]>(at`/api/v1/orgs`, { signal, query: { skip_create: true } }),
});
