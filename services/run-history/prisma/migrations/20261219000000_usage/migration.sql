-- What all attempts of a run have used; null: it has called neither models nor tools, as far as the journal knows.
ALTER TABLE run
  ADD COLUMN model_calls integer,
  ADD COLUMN tool_calls integer,
  ADD COLUMN input_tokens bigint,
  ADD COLUMN output_tokens bigint;

-- What each attempt has said last of the models and tools that it has called.
CREATE TABLE run_usage (
  run_id uuid NOT NULL,
  attempt integer NOT NULL,
  models jsonb NOT NULL,
  tools jsonb NOT NULL,
  PRIMARY KEY (run_id, attempt)
) PARTITION BY RANGE (run_id);

ALTER TABLE run_statistic
  ADD COLUMN input_tokens bigint NOT NULL DEFAULT 0,
  ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0;

-- Who has used what. Runs and calls of tools are in the row without a model; '' stands for what is not known, too.
CREATE TABLE usage (
  deployment_id uuid NOT NULL,
  step text NOT NULL,
  start timestamptz NOT NULL,
  assistant_id uuid NOT NULL,
  creator_kind text NOT NULL,
  creator text NOT NULL,
  key_id text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  runs bigint NOT NULL,
  model_calls bigint NOT NULL,
  tool_calls bigint NOT NULL,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cache_read_tokens bigint NOT NULL,
  cache_creation_tokens bigint NOT NULL,
  reasoning_tokens bigint NOT NULL,
  PRIMARY KEY (deployment_id, step, start, assistant_id, creator_kind, creator, key_id, provider, model)
);
CREATE INDEX usage_by_time ON usage (step, start);
