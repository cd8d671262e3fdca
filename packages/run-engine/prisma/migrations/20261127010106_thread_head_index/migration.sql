-- runyard: no transaction
-- The heads of threads that had runs before the trigger. Locks are taken in the engine's order; runs that are inserted
-- meanwhile lower the heads themselves.
WITH waiting AS (
  SELECT thread_id, min(ready_at) AS ready_at FROM run WHERE status = 'pending' GROUP BY thread_id
), locked AS MATERIALIZED (
  SELECT f.thread_id, w.ready_at FROM thread_fence f JOIN waiting w USING (thread_id) ORDER BY f.thread_id FOR UPDATE OF f
)
UPDATE thread_fence f SET head_ready_at = least(f.head_ready_at, l.ready_at) FROM locked l WHERE f.thread_id = l.thread_id;
DROP INDEX CONCURRENTLY IF EXISTS thread_fence_waiting;
CREATE INDEX CONCURRENTLY thread_fence_waiting ON thread_fence (head_ready_at)
  WHERE run_id IS NULL AND head_ready_at IS NOT NULL;
-- Claims of the previous release, for as long as it runs beside this one, sort the runs that wait. It must not stay:
-- statistics of a moment without waiting runs make it look as good as the indexes by thread.
DROP INDEX CONCURRENTLY IF EXISTS run_pending;
