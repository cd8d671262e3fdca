-- How many processes of each role a deployment was given last: what it begins with again.
CREATE TABLE deployment_scale (
  deployment_id uuid    NOT NULL REFERENCES deployment ON DELETE CASCADE,
  role          text    NOT NULL CHECK (role IN ('agent-api', 'run-worker')),
  count         integer NOT NULL CHECK (count > 0),
  PRIMARY KEY (deployment_id, role)
);
