import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';

/** Returns the workspaces that this service keeps something for which is not being deleted. */
export async function listWorkspacesInUse(queries: Queries): Promise<Tenant[]> {
  return queries.$queryRaw<Tenant[]>`
    SELECT organization_id::text AS "organizationId", workspace_id::text AS "workspaceId"
    FROM (
      SELECT organization_id, workspace_id FROM deployment WHERE delete_requested_at IS NULL
      UNION SELECT organization_id, workspace_id FROM listener
      UNION SELECT organization_id, workspace_id FROM github_integration
    ) AS used`;
}
