-- Whether a person took a membership up with the account that has a password: an account that never proved its address
-- acts in these organizations alone. Every membership of somebody with an account was given to that account until now.
ALTER TABLE identity ADD COLUMN is_accepted boolean;
UPDATE identity SET is_accepted = EXISTS (SELECT FROM password_credential WHERE password_credential.person_id = identity.person_id)
WHERE kind = 'person';

-- The release before this one does not know the column, and gives people with an account memberships for the account.
CREATE FUNCTION identity_accepted_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.is_accepted := EXISTS (SELECT FROM password_credential WHERE password_credential.person_id = NEW.person_id);
  RETURN NEW;
END $$;
CREATE TRIGGER identity_accepted_before BEFORE INSERT ON identity
FOR EACH ROW WHEN (NEW.kind = 'person' AND NEW.is_accepted IS NULL) EXECUTE FUNCTION identity_accepted_before();
