CREATE TABLE organization (
  id                       uuid PRIMARY KEY,
  display_name             text           NOT NULL,
  is_personal              boolean        NOT NULL DEFAULT false,
  is_default               boolean        NOT NULL DEFAULT false,
  jit_provisioning_enabled boolean        NOT NULL DEFAULT true,
  invites_enabled          boolean        NOT NULL DEFAULT true,
  pat_creation_disabled    boolean        NOT NULL DEFAULT false,
  sso_login_slug           text           UNIQUE,
  created_at               timestamptz(3) NOT NULL DEFAULT now(),
  updated_at               timestamptz(3) NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX organization_one_default ON organization (is_default) WHERE is_default;

CREATE TABLE workspace (
  id              uuid           NOT NULL UNIQUE,
  organization_id uuid           NOT NULL REFERENCES organization,
  display_name    text           NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE role (
  id              uuid PRIMARY KEY,
  organization_id uuid    REFERENCES organization,
  access_scope    text    NOT NULL CHECK (access_scope IN ('organization', 'workspace')),
  name            text    NOT NULL,
  display_name    text    NOT NULL,
  description     text    NOT NULL DEFAULT '',
  permissions     text[]  NOT NULL,
  position        integer NOT NULL
);
CREATE UNIQUE INDEX role_platform_name ON role (name) WHERE organization_id IS NULL;

INSERT INTO role (id, access_scope, name, display_name, description, position, permissions) VALUES
  ('5a7d6f2e-0000-4000-8000-000000000001', 'organization', 'ORGANIZATION_ADMIN', 'Organization Admin',
   'Manages the organization and administers every workspace.', 1,
   '{organization:manage,organization:read,organization:pats:create}'),
  ('5a7d6f2e-0000-4000-8000-000000000002', 'organization', 'ORGANIZATION_USER', 'Organization User',
   'Reads the organization and makes personal access tokens.', 2,
   '{organization:read,organization:pats:create}'),
  ('5a7d6f2e-0000-4000-8000-000000000003', 'organization', 'ORGANIZATION_VIEWER', 'Organization Viewer',
   'Reads the organization.', 3,
   '{organization:read}'),
  ('5a7d6f2e-0000-4000-8000-000000000011', 'workspace', 'WORKSPACE_ADMIN', 'Admin',
   'Full control of the workspace.', 11,
   '{workspaces:read,workspaces:manage,workspaces:manage-members,workspaces:manage-keys,deployments:create,deployments:read,deployments:update,deployments:delete,runs:create,runs:read,runs:update,runs:delete}'),
  ('5a7d6f2e-0000-4000-8000-000000000012', 'workspace', 'WORKSPACE_EDITOR', 'Editor',
   'Modifies resources; deletes no runs and no deployments.', 12,
   '{workspaces:read,deployments:create,deployments:read,deployments:update,runs:create,runs:read,runs:update}'),
  ('5a7d6f2e-0000-4000-8000-000000000013', 'workspace', 'WORKSPACE_USER', 'User',
   'Reads everything and runs agents.', 13,
   '{workspaces:read,deployments:read,runs:create,runs:read,runs:update}'),
  ('5a7d6f2e-0000-4000-8000-000000000014', 'workspace', 'WORKSPACE_VIEWER', 'Viewer',
   'Reads.', 14,
   '{workspaces:read,deployments:read,runs:read}');

CREATE TABLE identity (
  id                   uuid           NOT NULL UNIQUE,
  organization_id      uuid           NOT NULL REFERENCES organization,
  kind                 text           NOT NULL CHECK (kind IN ('service_account', 'person')),
  name                 text           NOT NULL,
  organization_role_id uuid           NOT NULL REFERENCES role,
  everywhere_role_id   uuid           REFERENCES role,
  is_bootstrap         boolean        NOT NULL DEFAULT false,
  created_by           uuid,
  created_at           timestamptz(3) NOT NULL DEFAULT now(),
  disabled_at          timestamptz(3),
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX identity_one_bootstrap ON identity (organization_id) WHERE is_bootstrap;

CREATE TABLE member (
  organization_id uuid NOT NULL,
  workspace_id    uuid NOT NULL,
  identity_id     uuid NOT NULL,
  role_id         uuid NOT NULL REFERENCES role,
  PRIMARY KEY (organization_id, workspace_id, identity_id),
  FOREIGN KEY (organization_id, workspace_id) REFERENCES workspace (organization_id, id) ON DELETE CASCADE,
  FOREIGN KEY (organization_id, identity_id) REFERENCES identity (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX member_identity ON member (organization_id, identity_id);

-- A key is looked up by the SHA-256 of what the caller sent; the key itself is nowhere.
CREATE TABLE api_key (
  id                   uuid PRIMARY KEY,
  organization_id      uuid           NOT NULL,
  identity_id          uuid           NOT NULL,
  kind                 text           NOT NULL CHECK (kind IN ('service_key', 'personal_token')),
  key_sha256           bytea          NOT NULL UNIQUE CHECK (octet_length(key_sha256) = 32),
  short_key            text           NOT NULL,
  description          text           NOT NULL,
  read_only            boolean        NOT NULL DEFAULT false,
  default_workspace_id uuid,
  created_at           timestamptz(3) NOT NULL DEFAULT now(),
  expires_at           timestamptz(3),
  last_used_at         timestamptz(3),
  revoked_at           timestamptz(3),
  FOREIGN KEY (organization_id, identity_id) REFERENCES identity (organization_id, id),
  FOREIGN KEY (organization_id, default_workspace_id) REFERENCES workspace (organization_id, id)
);
CREATE INDEX api_key_listed ON api_key (organization_id, kind, created_at DESC);

CREATE TABLE signing_key (
  kid                text PRIMARY KEY,
  public_jwk         jsonb          NOT NULL,
  sealed_private_jwk text           NOT NULL,
  created_at         timestamptz(3) NOT NULL DEFAULT now(),
  retired_at         timestamptz(3)
);

CREATE TABLE outbox (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic      text        NOT NULL,
  key        text        NOT NULL,
  event      jsonb       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE duty (
  name        text PRIMARY KEY,
  holder      uuid        NOT NULL,
  lease_until timestamptz NOT NULL
);
