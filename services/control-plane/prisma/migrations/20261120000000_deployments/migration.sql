CREATE TABLE deployment (
  id                       uuid PRIMARY KEY,
  organization_id          uuid           NOT NULL,
  workspace_id             uuid           NOT NULL,
  name                     text           NOT NULL,
  slug                     text           NOT NULL UNIQUE,
  source                   text           NOT NULL,
  source_config            jsonb          NOT NULL,
  source_revision_config   jsonb          NOT NULL,
  sealed_secrets           text,
  sealed_database_password text,
  status                   text           NOT NULL
                           CHECK (status IN ('AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN')),
  latest_revision_id       uuid           NOT NULL,
  active_revision_id       uuid,
  has_custom_auth          boolean        NOT NULL DEFAULT false,
  upstreams                text[]         NOT NULL DEFAULT '{}',
  route_version            bigint         NOT NULL DEFAULT 1,
  created_by               uuid           NOT NULL,
  created_at               timestamptz(3) NOT NULL DEFAULT now(),
  updated_at               timestamptz(3) NOT NULL DEFAULT now(),
  delete_requested_at      timestamptz(3)
);
-- A name is free again as soon as its deployment is being deleted.
CREATE UNIQUE INDEX deployment_name ON deployment (workspace_id, name) WHERE delete_requested_at IS NULL;
CREATE INDEX deployment_listed ON deployment (workspace_id, created_at DESC, id);

CREATE TABLE revision (
  id                     uuid PRIMARY KEY,
  deployment_id          uuid           NOT NULL REFERENCES deployment ON DELETE CASCADE,
  number                 integer        NOT NULL,
  status                 text           NOT NULL
                         CHECK (status IN ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING',
                           'CREATE_FAILED', 'BUILD_FAILED', 'DEPLOY_FAILED', 'DEPLOYED', 'SKIPPED', 'INTERRUPTED', 'UNKNOWN')),
  status_message         text,
  source                 text           NOT NULL,
  source_config          jsonb          NOT NULL,
  source_revision_config jsonb          NOT NULL,
  sealed_secrets         text,
  created_at             timestamptz(3) NOT NULL DEFAULT now(),
  updated_at             timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (deployment_id, number)
);
-- What is left to do: read by every sweep.
CREATE INDEX revision_open ON revision (deployment_id, number)
  WHERE status IN ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING');

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
