-- How much of a deployment may be used in an hour, a day or a month. The data plane sets them, so that they hold while the control
-- plane is away. A process learns that there are any by the statement that inserts its runs.
CREATE TABLE budget (
  budget_id      uuid PRIMARY KEY,
  name           text NOT NULL,
  subject        text NOT NULL,      -- whose use is counted together: workspace, deployment, assistant, creator, key
  subject_id     text,               -- one of them alone; null: each separately
  period         text NOT NULL,      -- hour, day, month: in UTC
  tokens_max     bigint,
  runs_max       bigint,
  is_enforced    boolean NOT NULL,   -- false: it is counted alone
  refusal_status integer NOT NULL    -- by which new runs are refused
);

-- What has been used in a period. Without a foreign key, as that would fail creations of runs while a budget is removed.
CREATE TABLE budget_use (
  budget_id  uuid NOT NULL,
  start      timestamptz NOT NULL,   -- of the period
  subject_id text NOT NULL,          -- empty for the deployment and the workspace
  tokens     bigint NOT NULL DEFAULT 0,
  runs       bigint NOT NULL DEFAULT 0,
  exhausted  text,                   -- tokens, runs: used up together with other deployments, as the data plane says
  PRIMARY KEY (budget_id, start, subject_id)
);

-- The budgets on which a run in flight is counted.
CREATE TABLE run_budget (
  run_id     uuid NOT NULL,
  budget_id  uuid NOT NULL,
  subject_id text NOT NULL,
  PRIMARY KEY (run_id, budget_id)
);
