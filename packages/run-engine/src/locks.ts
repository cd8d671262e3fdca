import type pg from 'pg';
import { headAt, nextReadyAt } from './queue/thread-heads.ts';
import type { CancelAction } from './types.ts';

/**
 * Every transaction of the engine takes locks in this order: thread rows by id, then fence rows by id, then run rows. A
 * claim takes no thread rows and skips locked fences, so it never waits.
 *
 * Under a thread's row lock the set of its runs in flight only shrinks; under its fence lock no run of it changes
 * status.
 */

/**
 * The next epoch of fence `f`: above every earlier one, including those of claims that a crash of the server may have
 * lost.
 */
export const NEXT_EPOCH = 'greatest(f.epoch + 1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)';

/** Locks thread rows and returns which exist. */
export async function lockThreads(client: pg.ClientBase, threadIds: string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ thread_id: string }>({
    name: 'engine_lock_threads',
    text: 'SELECT thread_id FROM thread WHERE thread_id = ANY($1::uuid[]) ORDER BY thread_id FOR NO KEY UPDATE',
    values: [threadIds],
  });
  return new Set(rows.map((row) => row.thread_id));
}

/**
 * Locks the rows of the threads that nobody else has locked, without waiting. `held` are existing threads that were not
 * locked: operations on them wait separately. `interrupted` and `busy` are those locked ones that have this status.
 */
export async function lockUnheldThreads(
  client: pg.ClientBase,
  threadIds: string[],
): Promise<Record<'locked' | 'held' | 'interrupted' | 'busy', Set<string>>> {
  const { rows } = await client.query<{ thread_id: string; status: string | null }>({
    name: 'engine_lock_unheld_threads',
    text: `WITH locked AS MATERIALIZED (
             SELECT thread_id, status FROM thread WHERE thread_id = ANY($1::uuid[]) ORDER BY thread_id
             FOR NO KEY UPDATE SKIP LOCKED
           )
           SELECT t.thread_id, l.status
           FROM thread t LEFT JOIN locked l USING (thread_id) WHERE t.thread_id = ANY($1::uuid[])`,
    values: [threadIds],
  });
  const idsOf = (isOne: (status: string | null) => boolean) =>
    new Set(rows.filter(({ status }) => isOne(status)).map((row) => row.thread_id));
  return {
    locked: idsOf((status) => status !== null),
    held: idsOf((status) => status === null),
    interrupted: idsOf((status) => status === 'interrupted'),
    busy: idsOf((status) => status === 'busy'),
  };
}

/** Locks fence rows, waiting for the writes in flight under them, and returns their epochs. */
export async function lockFences(client: pg.ClientBase, threadIds: string[]): Promise<Map<string, bigint>> {
  const { rows } = await client.query<{ thread_id: string; epoch: string }>({
    name: 'engine_lock_fences',
    text: 'SELECT thread_id, epoch FROM thread_fence WHERE thread_id = ANY($1::uuid[]) ORDER BY thread_id FOR UPDATE',
    values: [threadIds],
  });
  return new Map(rows.map((row) => [row.thread_id, BigInt(row.epoch)]));
}

/** A running run, read under its thread's fence lock. */
export interface OwnedRun {
  threadId: string;
  runId: string;
  assistantId: string;
  epoch: bigint;
  attempt: number;
  failures: number;
  /** How often its worker stopped in good order and handed it back. */
  drains: number;
  keepsThread: boolean;
  cancelAction: CancelAction | null;
  cancelReason: string | null;
  /** Milliseconds since its cancel order; null when there is none. */
  cancelledForMs: number | null;
  /** Milliseconds since its encryption key was first missed; null when the attempt before got it. */
  keyMissingForMs: number | null;
  /** True when somebody must be notified of its end. */
  hasWebhooks: boolean;
}

/** Locks the fences of threads with a running run, and those runs. Returns them by thread id. */
export async function lockOwnedRuns(client: pg.ClientBase, threadIds: string[]): Promise<Map<string, OwnedRun>> {
  const { rows } = await client.query({
    name: 'engine_lock_owned_runs',
    text: `SELECT f.thread_id, f.epoch, r.run_id, r.assistant_id, r.attempt, r.failures, r.drains, r.keeps_thread, r.cancel_action,
                  r.cancel_reason, r.webhooks IS NOT NULL AS has_webhooks,
                  (extract(epoch FROM clock_timestamp() - r.cancel_requested_at) * 1000)::float8 AS cancelled_for_ms,
                  (extract(epoch FROM clock_timestamp() - r.key_missing_since) * 1000)::float8 AS key_missing_for_ms
           FROM thread_fence f JOIN run r ON r.run_id = f.run_id
           -- Written so that only the primary key serves it: statistics of a moment without running runs promise that an
           -- index of all of them has one entry.
           WHERE f.thread_id = ANY($1::uuid[]) AND (r.status = 'running') IS TRUE
           ORDER BY f.thread_id FOR UPDATE OF f, r`,
    values: [threadIds],
  });
  return new Map(
    rows.map((row) => [
      row.thread_id,
      {
        threadId: row.thread_id,
        runId: row.run_id,
        assistantId: row.assistant_id,
        epoch: BigInt(row.epoch),
        attempt: row.attempt,
        failures: row.failures,
        drains: row.drains,
        keepsThread: row.keeps_thread,
        cancelAction: row.cancel_action,
        cancelReason: row.cancel_reason,
        cancelledForMs: row.cancelled_for_ms,
        keyMissingForMs: row.key_missing_for_ms,
        hasWebhooks: row.has_webhooks,
      },
    ]),
  );
}

/** Takes threads from their owners: their further writes are refused, and those in flight have ended. */
export async function takeFences(client: pg.ClientBase, threadIds: string[]): Promise<Map<string, bigint>> {
  const { rows } = await client.query<{ thread_id: string; epoch: string }>({
    name: 'engine_take_fences',
    text: `UPDATE thread_fence f SET epoch = ${NEXT_EPOCH}, run_id = NULL, head_ready_at = ${headAt(nextReadyAt('f.thread_id'))}
           WHERE f.thread_id = ANY($1::uuid[])
           RETURNING f.thread_id, f.epoch`,
    values: [threadIds],
  });
  return new Map(rows.map((row) => [row.thread_id, BigInt(row.epoch)]));
}

/** Returns the newest epoch of a thread's fence, without a lock. */
export async function currentEpoch(db: pg.Pool, threadId: string): Promise<bigint | undefined> {
  const { rows } = await db.query<{ epoch: string }>({
    name: 'engine_current_epoch',
    text: 'SELECT epoch FROM thread_fence WHERE thread_id = $1',
    values: [threadId],
  });
  return rows[0] && BigInt(rows[0].epoch);
}

/**
 * Removes the fences of threads that are not kept, when their runs have ended. A new thread may have got the same id in
 * the meantime, and needs the fence. The fences are locked.
 */
export async function dropUnkeptFences(client: pg.ClientBase, threadIds: string[]): Promise<void> {
  if (threadIds.length === 0) return;
  await client.query({
    name: 'engine_drop_fences',
    text: `DELETE FROM thread_fence f WHERE f.thread_id = ANY($1::uuid[])
             AND NOT EXISTS (SELECT 1 FROM thread t WHERE t.thread_id = f.thread_id)`,
    values: [threadIds],
  });
}
