-- For counting: a few megabytes for a million threads, in the order of the table, where the index of the ids has forty and none.
CREATE INDEX thread_by_status ON thread (status);
