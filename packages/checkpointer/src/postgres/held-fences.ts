/**
 * The beginning of every fenced statement: locks the fence rows of its threads in id order and compares their epochs
 * after locking. `held` are the fences that are still valid; the rest of the statement works for those only.
 *
 * Parameters: $1 thread ids, $2 epochs, $3 run ids. Fences are named by their position among them, counted from 1.
 *
 * The lock makes the fence work. A claim that raises the epoch waits until this statement has committed. When the claim
 * was first, the lock waits for it and then sees its epoch. A mere comparison in a join would use the epoch from before
 * the wait.
 */
export const HELD_FENCES = `
  locked AS MATERIALIZED (
    SELECT thread_id, epoch FROM thread_fence WHERE thread_id = ANY($1::uuid[]) ORDER BY thread_id FOR SHARE
  ),
  held AS MATERIALIZED (
    SELECT f.position::int, f.thread_id, f.run_id
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) WITH ORDINALITY AS f(thread_id, epoch, run_id, position)
    JOIN locked USING (thread_id)
    WHERE locked.epoch = f.epoch
  )`;
