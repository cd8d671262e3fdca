-- The kill switch of the deployment: while there is a reason, no run is created or claimed, crons skip their slots, and running runs
-- are cancelled. Null: it is not halted. The data plane sets it, so that it holds while the control plane is away.
ALTER TABLE deployment
  ADD COLUMN halt_reason         text,
  ADD COLUMN halt_cancels_queued boolean NOT NULL DEFAULT false,   -- true: runs that wait are cancelled too, and not kept
  ADD COLUMN halt_cancelled_runs integer NOT NULL DEFAULT 0;       -- runs that the halt has cancelled so far
