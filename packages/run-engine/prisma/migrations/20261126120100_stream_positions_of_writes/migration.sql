-- As of checkpoints, in a transaction of its own: whoever has locked both tables in another order is not in its way.
ALTER TABLE checkpoint_write ADD COLUMN stream_position bigint;
