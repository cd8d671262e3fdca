-- How often the worker of the run stopped in good order and handed it back: BG_JOB_MAX_DRAINS limits it.
ALTER TABLE run ADD COLUMN drains integer NOT NULL DEFAULT 0;
