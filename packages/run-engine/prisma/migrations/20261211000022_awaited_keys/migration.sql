-- Since when workers have failed to get the encryption key of the run; null when the last attempt got it, or none was
-- made. docs/decisions/0124.
ALTER TABLE run ADD COLUMN key_missing_since timestamptz;
