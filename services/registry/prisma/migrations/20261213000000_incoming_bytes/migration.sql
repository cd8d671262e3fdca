-- Bytes that requests are sending at the moment. A process that is killed leaves them until the upload ends.
ALTER TABLE registry_upload ADD COLUMN incoming bigint NOT NULL DEFAULT 0;
