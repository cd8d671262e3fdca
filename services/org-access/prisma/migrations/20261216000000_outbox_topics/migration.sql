-- runyard: no transaction
-- The relay reads the lowest rows of each topic, and must not step over the rows of one that the bus refuses.
DROP INDEX CONCURRENTLY IF EXISTS outbox_topic;
CREATE INDEX CONCURRENTLY outbox_topic ON outbox (topic, id);
