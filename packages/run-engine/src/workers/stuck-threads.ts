import type pg from 'pg';
import { lockFences, lockThreads, NEXT_EPOCH } from '../locks.ts';
import { nextReadyAt, refreshHeads } from '../queue/thread-heads.ts';
import { resetThreadStatus } from '../threads/reset-thread-status.ts';

/** Inconsistencies of live transactions last milliseconds; those that last this long are stuck. */
const STUCK_AFTER = "interval '10 seconds'";
const BATCH = 200;
/** Waiting runs, and busy threads, that one search looks at. */
const LOOK_MAX = 2_000;

/** True when the fence says that the thread is free, or names a run that is running. */
const FENCE_IS_CONSISTENT = `(f.run_id IS NULL OR EXISTS (SELECT 1 FROM run o WHERE o.run_id = f.run_id AND o.status = 'running'))`;

/** True when no claim would find the thread in time. */
const HEAD_IS_LATE = `f.run_id IS NULL AND (f.head_ready_at IS NULL OR f.head_ready_at > now())
  AND ${nextReadyAt('f.thread_id')} < coalesce(f.head_ready_at, 'infinity')`;

/** A place in an index, from which a search goes on: the value of its column, and an id. */
interface Place {
  value: string;
  id: string;
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000';
const FIRST_RUN: Place = { value: '0', id: NIL_UUID };
const FIRST_THREAD: Place = { value: '-infinity', id: NIL_UUID };

/**
 * Searches for threads that look stuck: an estimate without locks. Each search looks at the next waiting runs and the
 * next busy threads, up to a number, and begins again after the last, so that it costs the same however much waits.
 */
export class StuckThreadSearch {
  readonly #lookMax: number;
  #afterRun = FIRST_RUN;
  #afterThread = FIRST_THREAD;

  /** @param options.lookMax number of waiting runs, and of busy threads, that one search looks at */
  constructor({ lookMax = LOOK_MAX } = {}) {
    this.#lookMax = lookMax;
  }

  async next(db: pg.Pool): Promise<string[]> {
    const waiting = await this.#look(db, WAITING, this.#afterRun);
    const busy = await this.#look(db, BUSY, this.#afterThread);
    this.#afterRun = waiting.last ?? FIRST_RUN;
    this.#afterThread = busy.last ?? FIRST_THREAD;
    const { rows: lost } = await db.query<{ thread_id: string }>(LOST);
    return [...new Set([...waiting.stuck, ...busy.stuck, ...lost.map((row) => row.thread_id)])];
  }

  /** Returns where the next search goes on; undefined: at the beginning. */
  async #look(
    db: pg.Pool,
    query: { name: string; text: string },
    { value, id }: Place,
  ): Promise<{ stuck: string[]; last: Place | undefined }> {
    const { rows } = await db.query<{ stuck: string[]; looked: number; last: Place | null }>({
      ...query,
      values: [value, id, this.#lookMax],
    });
    const { stuck, looked, last } = rows[0]!;
    return { stuck, last: looked < this.#lookMax ? undefined : (last ?? undefined) };
  }
}

/**
 * Returns SQL for the threads of `looked` that are stuck, the number of rows looked at, and the last of them. `OFFSET 0`
 * in `stuck` keeps the planner to one look-up for each of them: a join reads all that waits.
 */
function reportLooked(value: string, order: string, stuck: string): string {
  return `SELECT ARRAY(SELECT thread_id::text FROM (${stuck} LIMIT ${BATCH}) s) AS stuck,
            (SELECT count(*)::int FROM looked) AS looked,
            (SELECT json_build_object('value', ${value}::text, 'id', thread_id) FROM looked ORDER BY ${order} LIMIT 1) AS last`;
}

const WAITING = {
  name: 'engine_find_stuck_waiting',
  text: `WITH looked AS MATERIALIZED (
           SELECT r.thread_id, r.seq, r.ready_at, r.updated_at FROM run r
           WHERE r.status = 'pending' AND (r.thread_id, r.seq) > ($2::uuid, $1::bigint)
           ORDER BY r.thread_id, r.seq LIMIT $3::integer)
         ${reportLooked(
           'seq',
           'thread_id DESC, seq DESC',
           `SELECT r.thread_id FROM looked r
              LEFT JOIN LATERAL (SELECT * FROM thread_fence f WHERE f.thread_id = r.thread_id OFFSET 0) f ON true
            WHERE r.ready_at < now() - ${STUCK_AFTER} AND r.updated_at < now() - ${STUCK_AFTER}
              AND (f.thread_id IS NULL OR ${HEAD_IS_LATE} OR NOT ${FENCE_IS_CONSISTENT})`,
         )}`,
};

const BUSY = {
  name: 'engine_find_stuck_busy',
  text: `WITH looked AS MATERIALIZED (
           SELECT t.thread_id, t.updated_at FROM thread t
           WHERE t.status = 'busy' AND t.updated_at >= $1::timestamptz AND (t.updated_at, t.thread_id) > ($1::timestamptz, $2::uuid)
             AND t.updated_at < now() - ${STUCK_AFTER}
           ORDER BY t.updated_at, t.thread_id LIMIT $3::integer)
         ${reportLooked(
           'updated_at',
           'updated_at DESC, thread_id DESC',
           `SELECT t.thread_id FROM looked t
            WHERE NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status = 'pending' OFFSET 0)
              AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status = 'running' OFFSET 0)`,
         )}`,
};

/** Finds running runs of lost workers that their fence does not name. */
const LOST = {
  name: 'engine_find_stuck_running',
  text: `SELECT r.thread_id FROM run r LEFT JOIN worker w ON w.worker_id = r.worker_id
         WHERE r.status = 'running' AND r.updated_at < now() - ${STUCK_AFTER}
           AND (w.worker_id IS NULL OR w.lease_until < now())
           AND NOT EXISTS (SELECT 1 FROM thread_fence f WHERE f.run_id = r.run_id AND f.thread_id = r.thread_id)
         LIMIT ${BATCH}`,
};

/**
 * Makes the fences and statuses of threads consistent with their runs, in the caller's transaction. Returns those it
 * changed.
 */
export async function repairThreads(client: pg.ClientBase, threadIds: string[]): Promise<string[]> {
  await lockThreads(client, threadIds);
  const made = await client.query<{ thread_id: string }>(
    `INSERT INTO thread_fence (thread_id)
     SELECT DISTINCT r.thread_id FROM run r WHERE r.thread_id = ANY($1::uuid[]) AND r.status IN ('pending', 'running')
     ORDER BY r.thread_id ON CONFLICT DO NOTHING RETURNING thread_id`,
    [threadIds],
  );
  await lockFences(client, threadIds);
  // A running run that its fence does not name has no worker that could write for it: it is taken back like those of
  // lost workers.
  const adopted = await client.query<{ thread_id: string }>(
    `WITH named AS (
       UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = r.run_id FROM run r
       WHERE f.thread_id = ANY($1::uuid[]) AND r.thread_id = f.thread_id AND r.status = 'running'
         AND f.run_id IS DISTINCT FROM r.run_id
       RETURNING f.thread_id, f.run_id
     )
     UPDATE run r SET worker_id = NULL FROM named WHERE r.run_id = named.run_id RETURNING r.thread_id`,
    [threadIds],
  );
  const freed = await client.query<{ thread_id: string }>(
    `UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = NULL
     WHERE f.thread_id = ANY($1::uuid[]) AND NOT ${FENCE_IS_CONSISTENT} RETURNING f.thread_id`,
    [threadIds],
  );
  const late = await client.query<{ thread_id: string }>(
    `SELECT f.thread_id FROM thread_fence f WHERE f.thread_id = ANY($1::uuid[]) AND ${HEAD_IS_LATE}`,
    [threadIds],
  );
  await refreshHeads(client, threadIds);
  const idle = await client.query<{ thread_id: string }>(
    `SELECT t.thread_id FROM thread t WHERE t.thread_id = ANY($1::uuid[]) AND t.status = 'busy'
       AND NOT EXISTS (SELECT 1 FROM run r WHERE r.thread_id = t.thread_id AND r.status IN ('pending', 'running'))`,
    [threadIds],
  );
  const settled = idle.rows.map((row) => row.thread_id);
  await resetThreadStatus(client, settled);
  return [...new Set([made, adopted, freed, late, idle].flatMap(({ rows }) => rows.map((row) => row.thread_id)))];
}
