-- Archives that callers may upload, and have uploaded.
CREATE TABLE source_upload (
  id            uuid PRIMARY KEY,
  deployment_id uuid           NOT NULL REFERENCES deployment ON DELETE CASCADE,
  object_path   text           NOT NULL UNIQUE,
  expires_at    timestamptz(3) NOT NULL,
  -- Null until the archive is there.
  bytes         bigint,
  created_at    timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX source_upload_deployment ON source_upload (deployment_id);
CREATE INDEX source_upload_expiry ON source_upload (expires_at);
