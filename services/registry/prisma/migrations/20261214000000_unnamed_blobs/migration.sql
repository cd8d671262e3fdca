-- Since when a blob waits for a manifest that names it. Null once a sweep has found one, which takes it along when it is deleted.
ALTER TABLE registry_blob ADD COLUMN awaits_manifest_since timestamptz(3) DEFAULT CURRENT_TIMESTAMP;
CREATE INDEX registry_blob_awaits_manifest_since_idx ON registry_blob (awaits_manifest_since)
  WHERE awaits_manifest_since IS NOT NULL;
