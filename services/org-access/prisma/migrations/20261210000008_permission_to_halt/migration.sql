-- Administrators and editors of workspaces may halt and resume deployments. Custom roles stay as they are.
UPDATE role SET permissions = array_append(permissions, 'deployments:halt')
WHERE organization_id IS NULL AND name IN ('WORKSPACE_ADMIN', 'WORKSPACE_EDITOR')
  AND NOT permissions @> '{deployments:halt}';
