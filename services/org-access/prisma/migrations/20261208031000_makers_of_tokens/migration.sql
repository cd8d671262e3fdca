-- The key, or the session of a program, with which a personal access token was made, and with which it ends. Tokens that
-- were made before, and those made in browsers, have none.
ALTER TABLE api_key ADD COLUMN made_with uuid;
CREATE INDEX api_key_made_with ON api_key (made_with) WHERE made_with IS NOT NULL;
