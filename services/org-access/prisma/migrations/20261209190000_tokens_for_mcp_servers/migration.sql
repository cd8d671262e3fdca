-- Sessions of MCP clients, which are for the MCP server of one deployment alone.
ALTER TABLE session ADD COLUMN deployment_id uuid, ADD COLUMN resource text;
