-- How long the worker's leases are. One that ends much later was given before the database's clock was set back.
ALTER TABLE worker ADD COLUMN lease_ms integer;
