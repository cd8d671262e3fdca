-- Threads whose stored values may be older than their newest checkpoint: whoever wrote that checkpoint could not say what the
-- state is, because it died or was left behind. They are looked at from then on, and read anew.
CREATE TABLE thread_state_behind (
  thread_id uuid        PRIMARY KEY REFERENCES thread ON DELETE CASCADE,
  look_at   timestamptz NOT NULL DEFAULT now()
);
