import type pg from 'pg';

/** Smallest distance of two looks: transactions of writers are shorter. */
const LOOK_EVERY = "interval '1 second'";
/** Floors that nobody has moved for so long do not count: the sweep that found what is below them has stopped. */
const FLOORS_LAST = "interval '10 seconds'";

/**
 * SQL for the time below which claims need not look for heads of threads. Postgres cannot remove the index entries of
 * heads that are gone while anybody holds an old snapshot (a backup, a replica with feedback), and each claim would
 * walk all of them.
 */
export const CLAIM_FLOOR = `(
  SELECT CASE WHEN floors_read_at BETWEEN now() - ${FLOORS_LAST} AND now() THEN claim_floor END FROM deployment)`;

/**
 * Looks for the lowest head, without a floor, and moves the floors to it.
 *
 * `queue_floor` is the lowest head, or the time, of the last look: writers put no head below it. `claim_floor` is the
 * lower one of the last two looks: a transaction that has read the previous `queue_floor` commits above it, and what
 * commits even later is found by the next look.
 */
export async function moveQueueFloors(db: pg.Pool): Promise<void> {
  await db.query({
    name: 'engine_move_queue_floors',
    text: `UPDATE deployment d SET claim_floor = least(d.queue_floor, l.lowest), queue_floor = l.lowest, floors_read_at = now()
           FROM (SELECT least(min(f.head_ready_at), now()) AS lowest FROM thread_fence f
                 WHERE f.run_id IS NULL AND f.head_ready_at IS NOT NULL) AS l,
                (SELECT set_config('synchronous_commit', 'off', true)) AS lax
           WHERE d.floors_read_at IS NULL OR d.floors_read_at NOT BETWEEN now() - ${LOOK_EVERY} AND now()`,
  });
}
