import type { Tenant } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';

/** Returns the workspaces that this service keeps something for. */
export async function listWorkspacesInUse(queries: Queries): Promise<Tenant[]> {
  return queries.$queryRaw<Tenant[]>`
    SELECT organization_id::text AS "organizationId", workspace_id::text AS "workspaceId"
    FROM (
      SELECT organization_id, workspace_id FROM oauth_agent_connection
      UNION SELECT organization_id, workspace_id FROM oauth_token
      UNION SELECT organization_id, workspace_id FROM oauth_flow
    ) AS used
    WHERE workspace_id IS NOT NULL`;
}
