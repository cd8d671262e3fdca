-- Items of the store that expire, and their vectors for search by meaning.

ALTER TABLE store_item
  ADD COLUMN ttl_minutes  double precision,                -- what a refresh gives the item again; null: it never expires
  ADD COLUMN expires_at   timestamptz,                     -- from then on nobody sees it, swept or not
  ADD COLUMN embedding_id uuid;                            -- its vectors; null: not embedded

-- The vectors of one value of an item. A later value has an id of its own, so the two are never mixed.
CREATE TABLE store_embedding (
  embedding_id uuid    NOT NULL,
  position     integer NOT NULL,                           -- one vector per embedded text of the item
  space        text    NOT NULL,                           -- what made it: only vectors of one space are compared
  vector       real[]  NOT NULL,                           -- of length 1
  PRIMARY KEY (embedding_id, position)
);
-- Vectors do not compress, and are always read as a whole.
ALTER TABLE store_embedding ALTER COLUMN vector SET STORAGE EXTERNAL;

-- A trigger, because it sees the value that was replaced even when two writers met.
CREATE FUNCTION store_embedding_drop() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM store_embedding WHERE embedding_id = OLD.embedding_id;
  RETURN NULL;
END
$$;
CREATE TRIGGER store_item_replaced AFTER UPDATE ON store_item FOR EACH ROW
  WHEN (OLD.embedding_id IS NOT NULL AND NEW.embedding_id IS DISTINCT FROM OLD.embedding_id)
  EXECUTE FUNCTION store_embedding_drop();
CREATE TRIGGER store_item_deleted AFTER DELETE ON store_item FOR EACH ROW
  WHEN (OLD.embedding_id IS NOT NULL)
  EXECUTE FUNCTION store_embedding_drop();
