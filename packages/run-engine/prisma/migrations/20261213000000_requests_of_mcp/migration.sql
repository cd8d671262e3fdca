-- runyard: no transaction
-- Finds the runs of a request of MCP, also those that have ended, to cancel a call that waits for answers. A request's id
-- may have any length, which an index of hashes alone takes.
DROP INDEX CONCURRENTLY IF EXISTS run_mcp_request;
CREATE INDEX CONCURRENTLY run_mcp_request ON run USING hash ((metadata ->> 'mcp_request')) WHERE metadata ? 'mcp_request';
