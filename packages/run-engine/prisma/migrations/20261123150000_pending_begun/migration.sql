-- runyard: no transaction
-- Runs that wait for another attempt: of each thread one at most, which goes on before any other run of the thread begins.
DROP INDEX CONCURRENTLY IF EXISTS run_pending_begun;
CREATE INDEX CONCURRENTLY run_pending_begun ON run (thread_id, seq) WHERE status = 'pending' AND attempt > 0;
