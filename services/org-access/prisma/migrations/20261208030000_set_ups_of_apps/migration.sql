-- The session that began the set-up of an authenticator app: no other one sees the key, or ends the set-up. What waits
-- for its first code from before has to be begun again.
ALTER TABLE totp_credential ADD COLUMN session_id uuid;
