-- runyard: no transaction
-- For counting: a few megabytes for a million threads, in the order of the table, where the index of the ids has forty and none.
DROP INDEX CONCURRENTLY IF EXISTS thread_by_status;
CREATE INDEX CONCURRENTLY thread_by_status ON thread (status);
