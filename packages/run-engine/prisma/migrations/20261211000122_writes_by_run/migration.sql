-- runyard: no transaction
-- A rollback removes what its run wrote to checkpoints of others: without this it reads all writes of the thread, under
-- the locks of the thread.
DROP INDEX CONCURRENTLY IF EXISTS checkpoint_write_run;
CREATE INDEX CONCURRENTLY checkpoint_write_run ON checkpoint_write (run_id) WHERE run_id IS NOT NULL;
