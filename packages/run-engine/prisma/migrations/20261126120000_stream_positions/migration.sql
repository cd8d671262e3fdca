-- How far the stream of the run was when it wrote this. A later attempt that goes on from here sees by it whether all of these
-- events were published. Null: unknown, as for what an earlier release has written, or no run.
ALTER TABLE checkpoint ADD COLUMN stream_position bigint;
