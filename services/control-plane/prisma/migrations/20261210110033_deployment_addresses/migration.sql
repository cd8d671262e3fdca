-- The workspace that first had an address of a deployment. The row outlives the deployment and the workspace: clients go
-- on sending their keys to the address, so that no other workspace may get it.
CREATE TABLE deployment_address (
  kind         text NOT NULL,   -- slug, or host for one of custom_url
  name         text NOT NULL,
  workspace_id uuid NOT NULL,
  PRIMARY KEY (kind, name)
);

-- A trigger, so that no way to write a deployment can leave it out, of an earlier release either.
CREATE FUNCTION hold_deployment_address() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  foreign_name text;
BEGIN
  INSERT INTO deployment_address (kind, name, workspace_id)
  SELECT kind, name, NEW.workspace_id FROM (VALUES ('slug', NEW.slug), ('host', NEW.custom_host)) AS had (kind, name)
  WHERE name IS NOT NULL
  ON CONFLICT DO NOTHING;
  SELECT name INTO foreign_name FROM deployment_address
  WHERE (kind, name) IN (('slug', NEW.slug), ('host', NEW.custom_host)) AND workspace_id <> NEW.workspace_id LIMIT 1;
  IF FOUND THEN
    RAISE unique_violation USING MESSAGE = 'another workspace had this address of a deployment: ' || foreign_name;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER hold_deployment_address AFTER INSERT OR UPDATE OF slug, custom_host ON deployment
  FOR EACH ROW EXECUTE FUNCTION hold_deployment_address();

INSERT INTO deployment_address (kind, name, workspace_id)
SELECT 'slug', slug, workspace_id FROM deployment
UNION ALL SELECT 'host', custom_host, workspace_id FROM deployment WHERE custom_host IS NOT NULL
ON CONFLICT DO NOTHING;
