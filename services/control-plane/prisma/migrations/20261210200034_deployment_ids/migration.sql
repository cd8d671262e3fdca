-- The id of a deployment is one of its addresses too, and stays known: tokens that people connect to it are for that
-- deployment alone, also when it is deleted by then.
CREATE OR REPLACE FUNCTION hold_deployment_address() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  foreign_name text;
BEGIN
  INSERT INTO deployment_address (kind, name, workspace_id)
  SELECT kind, name, NEW.workspace_id
  FROM (VALUES ('id', NEW.id::text), ('slug', NEW.slug), ('host', NEW.custom_host)) AS had (kind, name)
  WHERE name IS NOT NULL
  ON CONFLICT DO NOTHING;
  SELECT name INTO foreign_name FROM deployment_address
  WHERE (kind, name) IN (('slug', NEW.slug), ('host', NEW.custom_host)) AND workspace_id <> NEW.workspace_id LIMIT 1;
  IF FOUND THEN
    RAISE unique_violation USING MESSAGE = 'another workspace had this address of a deployment: ' || foreign_name;
  END IF;
  RETURN NULL;
END $$;

INSERT INTO deployment_address (kind, name, workspace_id) SELECT 'id', id::text, workspace_id FROM deployment
ON CONFLICT DO NOTHING;
