-- runyard: no transaction
-- Lists the tasks of an assistant by the time of their last change.
DROP INDEX CONCURRENTLY IF EXISTS run_task;
CREATE INDEX CONCURRENTLY run_task ON run (assistant_id, updated_at DESC, run_id DESC) WHERE metadata ? 'task_id';
