-- Data keys of projects that encrypt their data themselves. A key is kept as the project's own code encrypted it, beside the
-- context that the code needs to decrypt it.
CREATE TABLE encryption_key (
  key_id         bytea       PRIMARY KEY, -- digest of the key, which values encrypted with it begin with
  context        text        NOT NULL,    -- JSON text
  context_digest bytea       NOT NULL,
  encrypted      bytea       NOT NULL,
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX encryption_key_context ON encryption_key (context_digest, created_at DESC);
