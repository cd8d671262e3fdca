-- Webhooks: who is told when a run is over, and the queue they are told from. docs/decisions/0028.
-- [{"url", "host", "refusal"?}]; null for a run that tells nobody, which is most of them.
ALTER TABLE run ADD COLUMN webhooks jsonb;

-- One row per run and receiver, written in the transaction that ends the run (for a refused receiver, in the one that
-- creates it). No reference to run or thread: both may be gone before the receiver is told. What was to be sent
-- goes when the row is over; the rest stays for a while as the log.
CREATE TABLE webhook_delivery (
  delivery_id uuid        PRIMARY KEY DEFAULT gen_random_uuid(),   -- `webhook-id`: the same at every try
  run_id      uuid        NOT NULL,
  thread_id   uuid        NOT NULL,
  position    integer     NOT NULL,                                -- of the receiver among the run's
  url         text        NOT NULL,
  host        text        NOT NULL,                                -- receivers on one host share a limit; '' is the project's own app
  status      text        NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'refused')),
  due_at      timestamptz,                                         -- of the next try; during a try, when it is taken for lost
  attempts    integer     NOT NULL DEFAULT 0,
  log         jsonb       NOT NULL DEFAULT '[]',                   -- [{"started_at", "duration_ms", "status_code", "error"}]
  run         jsonb,                                               -- the run as it ended, without what follows
  kwargs      bytea,
  result      bytea,
  created_at  timestamptz NOT NULL DEFAULT now(),
  ended_at    timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX webhook_delivery_run ON webhook_delivery (run_id, position);
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_at) WHERE status = 'pending';
CREATE INDEX webhook_delivery_ended ON webhook_delivery (ended_at) WHERE ended_at IS NOT NULL;
