-- The platform's own data planes, each a process that holds deployments which no listener has. Two releases may work on
-- this at once: the earlier one leaves the column empty.
CREATE TABLE data_plane (
  id           uuid PRIMARY KEY,
  version      text,
  epoch        integer NOT NULL DEFAULT 0,
  lease_until  timestamptz NOT NULL,
  last_seen_at timestamptz NOT NULL
);
ALTER TABLE deployment ADD COLUMN data_plane_id uuid REFERENCES data_plane (id) ON DELETE SET NULL;
CREATE INDEX deployment_data_plane_id_idx ON deployment (data_plane_id) WHERE data_plane_id IS NOT NULL;
