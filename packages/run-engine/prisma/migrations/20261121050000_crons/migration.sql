-- Runs made at times that a schedule says. A cron ends with its assistant, and with its thread if it has one.
CREATE TABLE cron (
  cron_id          uuid PRIMARY KEY,
  assistant_id     uuid        NOT NULL REFERENCES assistant ON DELETE CASCADE,
  thread_id        uuid        REFERENCES thread ON DELETE CASCADE,   -- null: each firing has a thread of its own
  user_id          text        NOT NULL DEFAULT '',                   -- who made it; its runs are theirs
  schedule         text        NOT NULL,
  timezone         text,                                              -- null: UTC
  end_time         timestamptz,                                       -- no slot after it
  enabled          boolean     NOT NULL DEFAULT true,
  on_run_completed text        CHECK (on_run_completed IN ('delete', 'keep')),   -- null with a thread
  payload          bytea       NOT NULL,                              -- JSON text: what its runs are created with
  metadata         jsonb       NOT NULL DEFAULT '{}',
  next_run_date    timestamptz,                                       -- the next slot; null when there is none any more
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX cron_due ON cron (next_run_date) WHERE enabled AND next_run_date IS NOT NULL;
CREATE INDEX cron_assistant ON cron (assistant_id);
CREATE INDEX cron_thread ON cron (thread_id) WHERE thread_id IS NOT NULL;
CREATE INDEX cron_created ON cron (created_at DESC, cron_id);
CREATE INDEX cron_metadata ON cron USING gin (metadata jsonb_path_ops);

-- The slots that were fired lately. The key is the backstop of "each slot once": whatever else goes wrong, a slot has one run.
CREATE TABLE cron_slot (
  cron_id  uuid        NOT NULL REFERENCES cron ON DELETE CASCADE,
  slot     timestamptz NOT NULL,
  run_id   uuid        NOT NULL,
  fired_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (cron_id, slot)
);
