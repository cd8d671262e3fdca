-- What was measured of each deployment, a row every some seconds, kept for hours. Not worth a write-ahead log: after a crash of
-- the database the dashboards begin anew.
CREATE UNLOGGED TABLE deployment_sample (
  deployment_id uuid           NOT NULL REFERENCES deployment ON DELETE CASCADE,
  taken_at      timestamptz(3) NOT NULL,
  figures       jsonb          NOT NULL,
  PRIMARY KEY (deployment_id, taken_at)
);
CREATE INDEX deployment_sample_age ON deployment_sample (taken_at);
