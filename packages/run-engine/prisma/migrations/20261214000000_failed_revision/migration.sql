-- The newest edit of a project that is run in its folder, when it does not load: while there is one, crons skip their slots. Null:
-- it loads, or the deployment is not edited in place. The data plane sets it, and a restart of the platform keeps it.
ALTER TABLE deployment ADD COLUMN failed_revision text;
