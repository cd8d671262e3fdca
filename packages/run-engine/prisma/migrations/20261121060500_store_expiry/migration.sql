-- runyard: no transaction
-- Items that expire, found beside those who write the others.
DROP INDEX CONCURRENTLY IF EXISTS store_item_expiry;
CREATE INDEX CONCURRENTLY store_item_expiry ON store_item (expires_at) WHERE expires_at IS NOT NULL;
