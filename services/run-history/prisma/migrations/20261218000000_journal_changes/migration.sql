-- Numbers the changes of the journal. The lock of the writer lasts until a change can be seen, so numbers become visible
-- in their order: whoever has seen one asks for higher ones and misses none.
CREATE SEQUENCE journal_change AS bigint;

-- The newest change of the deployment's runs. It has no index, so that a change writes nothing but the row.
ALTER TABLE deployment ADD COLUMN last_change bigint NOT NULL DEFAULT 0;
ALTER TABLE deployment SET (fillfactor = 50);
