-- Requests that create something and may come again (packages/database, idempotency).
CREATE TABLE idempotency_key (
  id             bytea       PRIMARY KEY,   -- SHA-256 of whose key it is, for which operations, and the key
  request_digest bytea       NOT NULL,      -- SHA-256 of what was asked for, salted with the key
  claim          uuid        NOT NULL,      -- the attempt that creates, or has created
  answer         bytea,                     -- JSON text, sealed where the deployment is; null while the creation is under way
  claimed_at     timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL
);
CREATE INDEX idempotency_key_expires ON idempotency_key (expires_at);
