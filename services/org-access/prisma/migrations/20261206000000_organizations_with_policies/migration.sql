-- Checks of organizations without access policies ask for none. A trigger keeps the column, because the release before
-- writes policies too. It stays true when the last policy is deleted, which costs one query without a result.

ALTER TABLE organization ADD COLUMN has_access_policies boolean NOT NULL DEFAULT false;

CREATE FUNCTION note_access_policy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE organization SET has_access_policies = true WHERE id = NEW.organization_id AND NOT has_access_policies;
  RETURN NULL;
END $$;

CREATE TRIGGER note_access_policy AFTER INSERT ON access_policy
  FOR EACH ROW EXECUTE FUNCTION note_access_policy();

UPDATE organization SET has_access_policies = true WHERE id IN (SELECT organization_id FROM access_policy);
