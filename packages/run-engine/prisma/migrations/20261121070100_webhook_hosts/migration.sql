-- runyard: no transaction
-- What waits is looked at host by host: a host with a long queue does not stand before the others.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_waiting;
CREATE INDEX CONCURRENTLY webhook_delivery_waiting ON webhook_delivery (host, due_at) WHERE status = 'pending';
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_due;
