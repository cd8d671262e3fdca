-- Providers of organizations, authorizations that people begin, tokens of users, and which agents may use them.
CREATE TABLE oauth_provider (
  id                         uuid NOT NULL PRIMARY KEY,
  organization_id            uuid NOT NULL,
  provider_id                text NOT NULL,
  name                       text NOT NULL,
  client_id                  text NOT NULL,
  encrypted_client_secret    text,
  auth_url                   text NOT NULL,
  token_url                  text NOT NULL,
  uses_pkce                  boolean NOT NULL,
  code_challenge_method      text,
  provider_type              text,
  token_endpoint_auth_method text NOT NULL,
  mcp_server_url             text,
  resource                   text,
  is_dynamic_client          boolean NOT NULL DEFAULT false,
  client_registered_at       timestamptz(3),
  client_secret_expires_at   timestamptz(3),
  server_metadata            jsonb,
  metadata_checked_at        timestamptz(3),
  created_by                 uuid NOT NULL,
  created_at                 timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at                 timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX oauth_provider_organization_id_provider_id_key ON oauth_provider (organization_id, provider_id);

CREATE TABLE oauth_flow (
  id                         uuid NOT NULL PRIMARY KEY,
  organization_id            uuid NOT NULL,
  workspace_id               uuid,
  owner                      uuid NOT NULL,
  subject                    text NOT NULL,
  person_id                  uuid,
  provider_uuid              uuid NOT NULL REFERENCES oauth_provider (id) ON DELETE CASCADE ON UPDATE CASCADE,
  state_digest               bytea NOT NULL,
  encrypted_code_verifier    text,
  client_id                  text,
  encrypted_client_secret    text,
  token_endpoint_auth_method text,
  redirect_uri               text NOT NULL,
  scopes                     text[],
  is_default                 boolean NOT NULL,
  renews_token_id            uuid,
  status                     text NOT NULL CHECK (status IN ('pending', 'exchanging', 'completed', 'failed')),
  token_id                   uuid,
  created_at                 timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at                 timestamptz(3) NOT NULL
);
CREATE INDEX oauth_flow_expires_at_idx ON oauth_flow (expires_at);
CREATE INDEX oauth_flow_provider_uuid_idx ON oauth_flow (provider_uuid);

CREATE TABLE oauth_token (
  id                     uuid NOT NULL PRIMARY KEY,
  organization_id        uuid NOT NULL,
  provider_uuid          uuid NOT NULL REFERENCES oauth_provider (id) ON DELETE CASCADE ON UPDATE CASCADE,
  owner                  uuid,
  subject                text NOT NULL,
  workspace_id           uuid,
  provider_account_label text,
  encrypted              text NOT NULL,
  scopes                 text[],
  asked_scopes           text[],
  expires_at             timestamptz(3),
  is_default             boolean NOT NULL,
  version                integer NOT NULL DEFAULT 1,
  created_at             timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at             timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX oauth_token_organization_id_owner_provider_uuid_idx ON oauth_token (organization_id, owner, provider_uuid);
CREATE INDEX oauth_token_workspace_id_idx ON oauth_token (workspace_id);
CREATE INDEX oauth_token_provider_uuid_idx ON oauth_token (provider_uuid);

CREATE TABLE oauth_agent_connection (
  id               uuid NOT NULL PRIMARY KEY,
  organization_id  uuid NOT NULL,
  workspace_id     uuid NOT NULL,
  agent_id         text NOT NULL,
  agent_generation integer NOT NULL,
  token_id         uuid NOT NULL REFERENCES oauth_token (id) ON DELETE CASCADE ON UPDATE CASCADE,
  provider_uuid    uuid NOT NULL REFERENCES oauth_provider (id) ON DELETE CASCADE ON UPDATE CASCADE,
  created_by       uuid NOT NULL,
  created_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX oauth_agent_connection_workspace_id_agent_id_token_id_key
  ON oauth_agent_connection (workspace_id, agent_id, token_id);
CREATE INDEX oauth_agent_connection_token_id_idx ON oauth_agent_connection (token_id);
CREATE INDEX oauth_agent_connection_provider_uuid_idx ON oauth_agent_connection (provider_uuid);

-- One row when all that control-plane kept of the broker in older releases is here.
CREATE TABLE former_rows_moved (
  is_done  boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (is_done),
  moved_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);

-- One process refreshes a token at a time (packages/leases).
CREATE TABLE duty (
  name        text NOT NULL PRIMARY KEY,
  holder      uuid NOT NULL,
  lease_until timestamptz NOT NULL
);

-- Requests that create something and may come again (packages/idempotency).
CREATE TABLE idempotency_key (
  id             bytea NOT NULL PRIMARY KEY,
  request_digest bytea NOT NULL,
  claim          uuid NOT NULL,
  answer         bytea,
  claimed_at     timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL
);
CREATE INDEX idempotency_key_expires_at_idx ON idempotency_key (expires_at);
