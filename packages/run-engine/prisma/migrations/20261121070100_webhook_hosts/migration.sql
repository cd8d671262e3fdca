-- What waits is looked at host by host: a host with a long queue does not stand before the others.
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (host, due_at) WHERE status = 'pending';
DROP INDEX webhook_delivery_due;
