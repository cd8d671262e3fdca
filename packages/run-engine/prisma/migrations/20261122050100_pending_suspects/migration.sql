-- runyard: no transaction
-- Runs that wait to be executed alone: a worker takes as many of them as it has places for.
DROP INDEX CONCURRENTLY IF EXISTS run_pending_suspect;
CREATE INDEX CONCURRENTLY run_pending_suspect ON run (ready_at, seq) WHERE status = 'pending' AND is_suspect;
