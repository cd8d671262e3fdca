-- Writes of earlier runs that a run in flight has put others in the place of (an interrupt's question, the answer to one): what
-- a rollback of that run puts back. They go with the end of the run.
CREATE TABLE checkpoint_write_replaced (
  thread_id     uuid             NOT NULL,
  run_id        uuid             NOT NULL,                 -- whose write took the place
  checkpoint_ns text COLLATE "C" NOT NULL,
  checkpoint_id text COLLATE "C" NOT NULL,
  task_id       text COLLATE "C" NOT NULL,
  idx           integer          NOT NULL,
  task_path     text             NOT NULL,
  written_by    uuid,                                      -- the run_id of the write
  channel       text             NOT NULL,
  type          text             NOT NULL,
  data          bytea            NOT NULL,
  PRIMARY KEY (thread_id, run_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
