-- What the project said about a graph's default assistant when it last started: when that changes the assistant gets a new
-- version, and until then changes made through the API stay. Null on assistants that were created by clients.
ALTER TABLE assistant ADD COLUMN project_settings jsonb;
