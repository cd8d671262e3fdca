-- Sessions of programs such as the command line, which people allow from their browsers.
ALTER TABLE session ADD COLUMN client_id text;

CREATE TABLE refresh_token (
  token_sha256 bytea PRIMARY KEY,
  session_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  used_at timestamptz(3),
  encrypted_successor text,
  FOREIGN KEY (session_id) REFERENCES session (id) ON DELETE CASCADE
);
CREATE INDEX "refresh_token_session_id_idx" ON refresh_token (session_id);

CREATE TABLE device_authorization (
  device_code_sha256 bytea PRIMARY KEY,
  user_code_sha256 bytea NOT NULL UNIQUE,
  client_id text NOT NULL,
  address text,
  user_agent text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  interval_seconds integer NOT NULL,
  last_polled_at timestamptz(3),
  allowed_by_session_id uuid,
  denied_at timestamptz(3),
  used_at timestamptz(3)
);
CREATE INDEX "device_authorization_expires_at_idx" ON device_authorization (expires_at);
