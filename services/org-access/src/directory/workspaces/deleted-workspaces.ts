import type { DeletedWorkspacesResponse } from '@runyard/contracts';
import type { Queries } from '../../database/database.ts';

/** Returns those of the workspaces that were deleted. One that is unknown here is not among them: it is not ours. */
export async function listDeletedWorkspaces(
  queries: Queries,
  named: readonly { organization_id: string; workspace_id: string }[],
): Promise<DeletedWorkspacesResponse['deleted']> {
  const rows = await queries.$queryRaw<{ organization_id: string; workspace_id: string }[]>`
    SELECT workspace.organization_id::text, workspace.id::text AS workspace_id
    FROM workspace
    JOIN unnest(
      ${named.map(({ organization_id }) => organization_id)}::uuid[],
      ${named.map(({ workspace_id }) => workspace_id)}::uuid[]
    ) AS named (organization_id, id) USING (organization_id, id)
    WHERE workspace.deleted_at IS NOT NULL`;
  return rows;
}
