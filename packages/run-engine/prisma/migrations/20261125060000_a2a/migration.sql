-- A2A: where the end of a task is sent. A task is the run that its first message made, with those that continued it: they
-- have `task_id`, the id of the first, in their metadata. docs/decisions/0102.
CREATE TABLE a2a_push_config (
  task_id      uuid        NOT NULL REFERENCES run ON DELETE CASCADE,   -- the first run
  config_id    text        NOT NULL,
  thread_id    uuid        NOT NULL,
  url          text        NOT NULL,
  host         text        NOT NULL,
  secrets      bytea       NOT NULL,                                    -- JSON text: {"token"?, "authentication"?}
  wire_version text        NOT NULL CHECK (wire_version IN ('1.0', '0.3')),
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (task_id, config_id)
);

-- A delivery for a task. Its rows are queued beside webhooks when one of the task's runs ends: null for webhooks.
ALTER TABLE webhook_delivery ADD COLUMN push jsonb, ADD COLUMN push_secrets bytea;
