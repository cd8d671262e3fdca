-- Who made a cron, where the project decides about callers. It is a table and not a column: processes of the release before
-- read `cron.*` by prepared statements, which fail once the table has another column.
CREATE TABLE cron_creator (
  cron_id uuid  PRIMARY KEY REFERENCES cron ON DELETE CASCADE,
  creator bytea NOT NULL -- JSON text: the user, and the threads and assistants that it may run
);
