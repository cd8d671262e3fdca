-- The identity of this journal, by which it reads the event bus: an empty one reads from the oldest event on.
CREATE TABLE journal (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only)
);
INSERT INTO journal DEFAULT VALUES;

CREATE TABLE deployment (
  deployment_id uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  workspace_id uuid NOT NULL,
  -- Nothing of it is written any more: all of it is being removed, and this row at last.
  is_deleted boolean NOT NULL DEFAULT false
);
CREATE INDEX deployment_of_workspace ON deployment (workspace_id);

-- Ids of runs begin with the time, so a range of ids is a week: partitions by id keep the id unique, give pages in order,
-- and go as a whole when their week is over.
CREATE TABLE run (
  run_id uuid PRIMARY KEY,
  workspace_id uuid NOT NULL,
  deployment_id uuid NOT NULL,
  thread_id uuid NOT NULL,
  assistant_id uuid NOT NULL,
  graph_id text,
  revision_id uuid,
  cron_id uuid,
  status text NOT NULL,
  attempt integer NOT NULL,
  created_at timestamptz(3),
  started_at timestamptz(3),
  ended_at timestamptz(3),
  queue_ms integer,
  duration_ms integer,
  error_class text,
  error_message text,
  cancel_action text,
  metadata jsonb,
  creator_kind text,
  creator text,
  creator_key_id text
) PARTITION BY RANGE (run_id);
CREATE INDEX run_of_workspace ON run (workspace_id, run_id);
CREATE INDEX run_of_status ON run (workspace_id, status, run_id);
CREATE INDEX run_of_deployment ON run (deployment_id, run_id);
CREATE INDEX run_of_thread ON run (thread_id);
-- Default assistants have the same id in every deployment.
CREATE INDEX run_of_assistant ON run (workspace_id, assistant_id, run_id);
CREATE INDEX run_of_creator ON run (workspace_id, creator, run_id) WHERE creator IS NOT NULL;
CREATE INDEX run_of_cron ON run (cron_id, run_id) WHERE cron_id IS NOT NULL;
CREATE INDEX run_metadata ON run USING gin (metadata jsonb_path_ops);
CREATE INDEX run_error ON run USING gin (to_tsvector('simple', error_class || ' ' || error_message))
  WHERE error_class IS NOT NULL;

-- Attempts that are not in the row of their run: second and later ones, and those that others followed.
CREATE TABLE run_attempt (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  started_at timestamptz(3),
  ended_at timestamptz(3),
  outcome text,
  PRIMARY KEY (run_id, attempt)
) PARTITION BY RANGE (run_id);

CREATE TABLE run_statistic (
  deployment_id uuid NOT NULL,
  step text NOT NULL,
  start timestamptz NOT NULL,
  graph_id text NOT NULL,
  created integer NOT NULL,
  success integer NOT NULL,
  error integer NOT NULL,
  timeout integer NOT NULL,
  interrupted integer NOT NULL,
  retried integer NOT NULL,
  PRIMARY KEY (deployment_id, step, start, graph_id)
);
CREATE INDEX run_statistic_by_time ON run_statistic (step, start);

-- Durations and waits, counted by buckets that grow by a tenth.
CREATE TABLE run_latency (
  deployment_id uuid NOT NULL,
  step text NOT NULL,
  start timestamptz NOT NULL,
  graph_id text NOT NULL,
  measure text NOT NULL,
  bucket smallint NOT NULL,
  runs integer NOT NULL,
  PRIMARY KEY (deployment_id, step, start, graph_id, measure, bucket)
);
CREATE INDEX run_latency_by_time ON run_latency (step, start);
