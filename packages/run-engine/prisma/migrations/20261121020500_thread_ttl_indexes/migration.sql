-- runyard: no transaction
-- There may be millions of threads: they are read beside those who write them.
ALTER TABLE thread VALIDATE CONSTRAINT thread_ttl_strategy_check;

DROP INDEX CONCURRENTLY IF EXISTS thread_expiring;
CREATE INDEX CONCURRENTLY thread_expiring ON thread (expires_at) WHERE expires_at IS NOT NULL;

-- Searching and sorting by the time of the last change of state.
DROP INDEX CONCURRENTLY IF EXISTS thread_state_updated;
CREATE INDEX CONCURRENTLY thread_state_updated ON thread (state_updated_at DESC, thread_id);
