-- What the data plane of a listener shows, and nothing else: good for its own operations, kept as a hash, gone with the listener.
CREATE TABLE listener_key (
  id          uuid           PRIMARY KEY,
  listener_id uuid           NOT NULL REFERENCES listener ON DELETE CASCADE,
  sha256      bytea          NOT NULL UNIQUE,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- Null: until it is revoked, or another one takes its place.
  expires_at  timestamptz(3)
);
CREATE INDEX listener_key_of_listener ON listener_key (listener_id);
