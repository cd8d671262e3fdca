-- runyard: no transaction
-- Claims of webhooks begin with what is due: deliveries wait for up to two days, and without this each claim takes a step
-- for every host with any.
DROP INDEX CONCURRENTLY IF EXISTS webhook_delivery_next;
CREATE INDEX CONCURRENTLY webhook_delivery_next ON webhook_delivery (due_at) WHERE status = 'pending';
