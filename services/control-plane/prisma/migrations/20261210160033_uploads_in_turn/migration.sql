ALTER TABLE source_upload
  ADD COLUMN stored_by    uuid,             -- the request that stores an archive at present; null: none
  ADD COLUMN stored_until timestamptz(3);   -- that request gives up before
