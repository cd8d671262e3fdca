-- When the next run of the thread may start: never later than that, and NULL only if none waits. Claims look for threads
-- by it, so that a queue on one thread costs them nothing. docs/decisions/0125.
ALTER TABLE thread_fence ADD COLUMN head_ready_at timestamptz;

-- Below claim_floor no thread waits; see packages/run-engine/src/queue/queue-floors.ts.
ALTER TABLE deployment ADD COLUMN claim_floor timestamptz, ADD COLUMN queue_floor timestamptz,
  ADD COLUMN floors_read_at timestamptz;

-- A trigger, because processes of the previous release insert runs too. It locks no fence of a running thread: the head
-- of that one is in the past.
CREATE FUNCTION lower_head_ready_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE thread_fence SET head_ready_at = NEW.ready_at
  WHERE thread_id = NEW.thread_id AND (head_ready_at IS NULL OR head_ready_at > NEW.ready_at);
  RETURN NULL;
END $$;
CREATE TRIGGER run_lowers_head AFTER INSERT ON run FOR EACH ROW WHEN (NEW.status = 'pending')
  EXECUTE FUNCTION lower_head_ready_at();
-- A run that somebody lets start earlier than it was accepted for.
CREATE TRIGGER run_lowers_head_earlier AFTER UPDATE OF ready_at ON run FOR EACH ROW
  WHEN (NEW.status = 'pending' AND NEW.ready_at < OLD.ready_at) EXECUTE FUNCTION lower_head_ready_at();
