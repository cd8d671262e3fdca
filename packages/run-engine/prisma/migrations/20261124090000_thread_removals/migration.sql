-- Deleted threads whose checkpoints are still being removed: too many to go with the thread itself. Their ids are given to no
-- other thread before that.
CREATE TABLE thread_removal (
  thread_id uuid        PRIMARY KEY,
  since     timestamptz NOT NULL DEFAULT now()
);
