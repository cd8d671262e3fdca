-- What was said about runs by those who were given a feedback URL. It goes with its run.
CREATE TABLE run_feedback (
  feedback_id uuid        PRIMARY KEY,
  run_id      uuid        NOT NULL REFERENCES run ON DELETE CASCADE,
  key         text        NOT NULL,
  score       jsonb       NOT NULL DEFAULT 'null',
  value       jsonb       NOT NULL DEFAULT 'null',
  comment     text,
  correction  jsonb       NOT NULL DEFAULT 'null',
  metadata    jsonb       NOT NULL DEFAULT '{}',
  created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX run_feedback_run ON run_feedback (run_id, key, created_at);

-- Signs what the deployment issues to the public, such as feedback URLs; known to whoever may write the database anyway.
ALTER TABLE deployment ADD COLUMN signing_key bytea;
UPDATE deployment SET signing_key = decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');
