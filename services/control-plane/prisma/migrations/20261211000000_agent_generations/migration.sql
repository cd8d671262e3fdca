-- How often the last deployment of an agent's name was deleted: what people gave to an earlier one is not for the next.
CREATE TABLE agent_generation (
  workspace_id uuid NOT NULL,
  agent_id     text NOT NULL,
  generation   integer NOT NULL,
  PRIMARY KEY (workspace_id, agent_id)
);

-- A trigger, so that no way to delete a deployment can leave it out, of an earlier release either. Of deployments that are
-- deleted at once one is the last.
CREATE FUNCTION end_agent_generation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('agent ' || NEW.workspace_id || '/' || NEW.agent_id, 0));
  IF NOT EXISTS (
    SELECT FROM deployment
    WHERE workspace_id = NEW.workspace_id AND agent_id = NEW.agent_id AND delete_requested_at IS NULL
  ) THEN
    INSERT INTO agent_generation (workspace_id, agent_id, generation) VALUES (NEW.workspace_id, NEW.agent_id, 1)
    ON CONFLICT (workspace_id, agent_id) DO UPDATE SET generation = agent_generation.generation + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER end_agent_generation AFTER UPDATE OF delete_requested_at ON deployment
  FOR EACH ROW WHEN (OLD.delete_requested_at IS NULL AND NEW.delete_requested_at IS NOT NULL AND NEW.agent_id IS NOT NULL)
  EXECUTE FUNCTION end_agent_generation();
