-- What deployments and revisions carry besides their source.
ALTER TABLE deployment
  ADD COLUMN agent_id          text,
  ADD COLUMN agent_environment text,
  ADD COLUMN image_version     text,
  ADD COLUMN secret_references jsonb NOT NULL DEFAULT '[]';
ALTER TABLE revision
  ADD COLUMN secret_references jsonb  NOT NULL DEFAULT '[]',
  ADD COLUMN tracked_packages  text[] NOT NULL DEFAULT '{}';

-- An agent has one deployment in each of its environments.
CREATE UNIQUE INDEX deployment_agent ON deployment (workspace_id, agent_id, agent_environment) WHERE delete_requested_at IS NULL;
