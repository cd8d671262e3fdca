-- runyard: no transaction
-- The token by which the backend of the console acts as a session. Sessions of before have none.
ALTER TABLE session ADD COLUMN IF NOT EXISTS console_token_sha256 bytea;
DROP INDEX CONCURRENTLY IF EXISTS session_console_token_sha256_key;
CREATE UNIQUE INDEX CONCURRENTLY session_console_token_sha256_key ON session (console_token_sha256);
