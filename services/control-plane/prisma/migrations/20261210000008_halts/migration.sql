-- The kill switches in force: of an organization (no workspace), of a workspace (no deployment), or of one deployment.
CREATE TABLE halt (
  scope_id        uuid PRIMARY KEY,          -- id of the organization, the workspace or the deployment
  organization_id uuid           NOT NULL,
  workspace_id    uuid,
  deployment_id   uuid           REFERENCES deployment ON DELETE CASCADE,
  reason          text           NOT NULL,
  cancels_queued  boolean        NOT NULL,
  created_by      uuid           NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX halt_organization ON halt (organization_id);
CREATE INDEX halt_deployment ON halt (deployment_id);

ALTER TABLE deployment
  ADD COLUMN halt_version         bigint NOT NULL DEFAULT 0,   -- grows with every change of the halts that concern it
  ADD COLUMN halt_reached_version bigint NOT NULL DEFAULT 0,   -- the newest one that its own database has
  ADD COLUMN halt_progress        jsonb;                       -- what its data plane has reported of it last
CREATE INDEX deployment_halt_open ON deployment (id) WHERE halt_version <> halt_reached_version;
