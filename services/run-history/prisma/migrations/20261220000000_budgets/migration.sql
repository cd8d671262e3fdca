-- Budgets of workspaces for what several deployments use together, as control-plane has them.
CREATE TABLE budget (
  budget_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  name text NOT NULL,
  subject text NOT NULL,
  subject_id text,
  period text NOT NULL,
  tokens_max bigint,
  runs_max bigint,
  is_enforced boolean NOT NULL
);

-- What all deployments together have used of them in a period.
CREATE TABLE budget_use (
  budget_id uuid NOT NULL REFERENCES budget ON DELETE CASCADE,
  start timestamptz NOT NULL,
  -- The creator or the key; '' for the workspace.
  subject_id text NOT NULL,
  tokens bigint NOT NULL,
  runs bigint NOT NULL,
  -- The cap that is reached, of which control-plane does not know yet: tokens, runs.
  untold text,
  PRIMARY KEY (budget_id, start, subject_id)
);
CREATE INDEX budget_use_untold ON budget_use (budget_id) WHERE untold IS NOT NULL;
