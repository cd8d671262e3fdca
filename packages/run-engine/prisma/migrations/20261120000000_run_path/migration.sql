-- The database of one deployment: assistants, threads, runs, checkpoints, store, outbox.
-- docs/services/agent-api/data.md explains each table; docs/decisions/0003 the fence.

-- Assistants -----------------------------------------------------------------------------------------------------
CREATE TABLE assistant (
  assistant_id uuid PRIMARY KEY,
  graph_id     text        NOT NULL,
  name         text        NOT NULL,
  description  text,
  config       jsonb       NOT NULL DEFAULT '{}',
  context      jsonb       NOT NULL DEFAULT '{}',
  metadata     jsonb       NOT NULL DEFAULT '{}',
  version      integer     NOT NULL DEFAULT 1,
  is_system    boolean     NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX assistant_created ON assistant (created_at DESC, assistant_id);
CREATE INDEX assistant_graph ON assistant (graph_id, created_at DESC);
CREATE INDEX assistant_metadata ON assistant USING gin (metadata jsonb_path_ops);

CREATE TABLE assistant_version (
  assistant_id uuid        NOT NULL REFERENCES assistant ON DELETE CASCADE,
  version      integer     NOT NULL,
  graph_id     text        NOT NULL,
  name         text        NOT NULL,
  description  text,
  config       jsonb       NOT NULL,
  context      jsonb       NOT NULL,
  metadata     jsonb       NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (assistant_id, version)
);

-- Threads --------------------------------------------------------------------------------------------------------
-- Narrow: what listing and claiming read. Values live in thread_state.
CREATE TABLE thread (
  thread_id        uuid PRIMARY KEY,
  status           text        NOT NULL DEFAULT 'idle' CHECK (status IN ('idle', 'busy', 'interrupted', 'error')),
  metadata         jsonb       NOT NULL DEFAULT '{}',
  config           jsonb       NOT NULL DEFAULT '{}',
  error            jsonb,
  created_at       timestamptz NOT NULL DEFAULT now(),
  updated_at       timestamptz NOT NULL DEFAULT now(),
  state_updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX thread_updated ON thread (updated_at DESC, thread_id);
CREATE INDEX thread_created ON thread (created_at DESC, thread_id);
CREATE INDEX thread_status ON thread (status, updated_at DESC);
CREATE INDEX thread_metadata ON thread USING gin (metadata jsonb_path_ops);

-- The newest values and interrupts as JSON text (bytea: any JSON the graph makes fits, also U+0000).
CREATE TABLE thread_state (
  thread_id     uuid PRIMARY KEY REFERENCES thread ON DELETE CASCADE,
  checkpoint_id text,
  "values"      bytea,
  interrupts    bytea
);
ALTER TABLE thread_state ALTER COLUMN "values" SET COMPRESSION pglz;

-- Who may write a thread: every fenced statement locks its row FOR SHARE and compares the epoch;
-- whoever takes the thread away (claim, hand-back, sweep, rollback, delete) bumps the epoch under FOR UPDATE and so waits
-- for the writes in flight. run_id is the running run, null when there is none. Every change of a run's status is made
-- under this lock, taken after the thread row's and before the run's.
-- No reference to thread: a run whose thread is not kept has a fence and no thread row.
CREATE TABLE thread_fence (
  thread_id uuid   PRIMARY KEY,
  epoch     bigint NOT NULL DEFAULT 0,
  run_id    uuid
) WITH (fillfactor = 70);

-- Runs -----------------------------------------------------------------------------------------------------------
CREATE TABLE run (
  run_id             uuid PRIMARY KEY,
  seq                bigint GENERATED ALWAYS AS IDENTITY,   -- order of acceptance: first in, first out per thread
  thread_id          uuid        NOT NULL,
  assistant_id       uuid        NOT NULL,
  status             text        NOT NULL DEFAULT 'pending'
                     CHECK (status IN ('pending', 'running', 'error', 'success', 'timeout', 'interrupted')),
  metadata           jsonb       NOT NULL DEFAULT '{}',
  kwargs             bytea       NOT NULL,                  -- JSON text: the run's arguments as `kwargs` shows them
  multitask_strategy text        NOT NULL DEFAULT 'enqueue'
                     CHECK (multitask_strategy IN ('reject', 'interrupt', 'rollback', 'enqueue')),
  keeps_thread       boolean     NOT NULL DEFAULT true,     -- false: stateless with on_completion "delete": no thread row, no checkpoints
  ready_at           timestamptz NOT NULL DEFAULT now(),    -- later with after_seconds
  attempt            integer     NOT NULL DEFAULT 0,        -- number of the current or last attempt; grows with every claim
  failures           integer     NOT NULL DEFAULT 0,        -- attempts in a row that ended with their worker or host and got no further; what retries are counted by
  is_suspect         boolean     NOT NULL DEFAULT false,    -- was one of several runs in a host that ended: runs alone from then on
  epoch              bigint,                                -- fence epoch of the current attempt
  worker_id          uuid,
  first_event_id     text,                                  -- where the run's events begin in the thread's stream
  cancel_action      text        CHECK (cancel_action IN ('interrupt', 'rollback')),
  cancel_reason      text,
  cancel_requested_at timestamptz,
  result             bytea,                                 -- JSON text of the final values, set when terminal
  error              jsonb,                                 -- {"error","message"}, sanitized
  created_at         timestamptz NOT NULL DEFAULT now(),
  updated_at         timestamptz NOT NULL DEFAULT now(),
  started_at         timestamptz,
  ended_at           timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX run_one_running ON run (thread_id) WHERE status = 'running';
CREATE INDEX run_pending ON run (ready_at, seq) WHERE status = 'pending';
CREATE INDEX run_thread_pending ON run (thread_id, seq) WHERE status = 'pending';
CREATE INDEX run_thread ON run (thread_id, seq DESC);
CREATE INDEX run_worker ON run (worker_id) WHERE status = 'running';
CREATE INDEX run_expiring ON run (ended_at) WHERE ended_at IS NOT NULL AND (result IS NOT NULL OR NOT keeps_thread);

-- One row per run-worker process; renewing it renews the leases of all its runs.
CREATE TABLE worker (
  worker_id    uuid PRIMARY KEY,
  revision_id  text        NOT NULL,
  slots        integer     NOT NULL,
  lease_until  timestamptz NOT NULL,
  is_draining  boolean     NOT NULL DEFAULT false,
  started_at   timestamptz NOT NULL DEFAULT now()
);

-- Single row: what all processes of the deployment agree on.
CREATE TABLE deployment (
  only_row        boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  active_revision text
);
INSERT INTO deployment DEFAULT VALUES;

-- Checkpoints ----------------------------------------------------------------------------------------------------
-- A checkpoint names for each channel the blob that holds its value: the same version written by two forks is two
-- blobs, told apart by the checkpoint that wrote them. Names compare byte by byte, whatever the database's language: the
-- newest checkpoint is the one with the greatest id.
CREATE TABLE checkpoint (
  thread_id            uuid             NOT NULL,
  checkpoint_ns        text COLLATE "C" NOT NULL,
  checkpoint_id        text COLLATE "C" NOT NULL,
  parent_checkpoint_id text COLLATE "C",
  run_id               uuid,
  data_type            text             NOT NULL,
  data                 bytea            NOT NULL,          -- the checkpoint without channel values, as the project's serializer wrote it
  metadata             jsonb            NOT NULL,          -- searchable copy
  metadata_type        text             NOT NULL,
  metadata_data        bytea            NOT NULL,
  channel_blobs        jsonb            NOT NULL,          -- channel -> [version, checkpoint id that wrote the blob]; only channels with a value
  created_at           timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE INDEX checkpoint_run ON checkpoint (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE checkpoint_blob (
  thread_id     uuid             NOT NULL,
  checkpoint_ns text COLLATE "C" NOT NULL,
  channel       text COLLATE "C" NOT NULL,
  version       text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL,                 -- the checkpoint that wrote it
  type          text             NOT NULL,
  data          bytea            NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, channel, version, checkpoint_id)
);

CREATE TABLE checkpoint_write (
  thread_id     uuid             NOT NULL,
  checkpoint_ns text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL,
  task_id       text COLLATE "C" NOT NULL,
  idx           integer          NOT NULL,
  task_path     text             NOT NULL DEFAULT '',
  run_id        uuid,
  channel       text             NOT NULL,
  type          text             NOT NULL,
  data          bytea            NOT NULL,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

-- Store ----------------------------------------------------------------------------------------------------------
CREATE TABLE store_item (
  namespace  text[] COLLATE "C" NOT NULL,                  -- in byte order, so that what is below a namespace is one range
  key        text               NOT NULL,
  value      jsonb              NOT NULL,
  created_at timestamptz        NOT NULL DEFAULT now(),
  updated_at timestamptz        NOT NULL DEFAULT now(),
  PRIMARY KEY (namespace, key)
);
CREATE INDEX store_item_value ON store_item USING gin (value jsonb_path_ops);

-- Outbox (packages/event-bus) --------------------------------------------------------------------------------------
CREATE TABLE outbox (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic      text        NOT NULL,
  key        text        NOT NULL,
  event      jsonb       NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);
-- Who may do what only one process may do at a time: the outbox relay, sweeps.
CREATE TABLE duty (
  name        text PRIMARY KEY,
  holder      uuid        NOT NULL,
  lease_until timestamptz NOT NULL
);
