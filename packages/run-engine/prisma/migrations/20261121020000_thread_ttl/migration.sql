-- How long a thread is kept. `expires_at` is when a sweep looks at it: with `delete` counted from the thread's creation (or
-- the last change of its ttl), with `keep_latest` from its last change of state; null while there is nothing to prune.
ALTER TABLE thread
  ADD COLUMN ttl_strategy text,
  ADD COLUMN ttl_minutes  double precision,
  ADD COLUMN expires_at   timestamptz,
  ADD CONSTRAINT thread_ttl_strategy_check CHECK (ttl_strategy IN ('delete', 'keep_latest')) NOT VALID;

-- A filter on metadata is planned by what a sample of the rows says it matches: the larger the sample, the rarer the owner
-- that is still told from a common one.
ALTER TABLE thread ALTER COLUMN metadata SET STATISTICS 1000;
