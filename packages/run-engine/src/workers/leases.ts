import type pg from 'pg';
import { IS_ACTIVE_REVISION } from '../queue/active-revision.ts';
import type { CancelAction, Fence } from '../types.ts';
import type { ClockWatch } from './clock-watch.ts';
import type { LeaseRenewal, WorkerRegistration } from './types.ts';

const DATABASE_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::float8';

/** Returns the database's time, in milliseconds since 1970, and whether any worker has a run. */
export async function readRunningState(db: pg.Pool): Promise<{ ms: number; hasRunningRuns: boolean }> {
  const { rows } = await db.query<{ ms: number; hasRunningRuns: boolean }>({
    name: 'engine_running_state',
    text: `SELECT ${DATABASE_MS} AS ms, EXISTS (SELECT 1 FROM run WHERE status = 'running') AS "hasRunningRuns"`,
  });
  return rows[0]!;
}

/**
 * Registers a worker. Leases are one row per worker: a renewal covers every run that the worker holds, and never
 * touches a row that checkpoint writers lock. All times are the database's. Registering and renewing do not wait for
 * the disk.
 */
export async function registerWorker(
  db: pg.Pool,
  { workerId, revisionId, slots }: WorkerRegistration,
  leaseMs: number,
): Promise<void> {
  await db.query(
    `INSERT INTO worker (worker_id, revision_id, slots, lease_until, lease_ms)
     VALUES ($1, $2, $3, now() + make_interval(secs => $4::float8 / 1000), $4)
     ON CONFLICT (worker_id) DO UPDATE
     SET revision_id = excluded.revision_id, slots = excluded.slots, lease_until = excluded.lease_until,
         lease_ms = excluded.lease_ms`,
    [workerId, revisionId, slots, leaseMs],
  );
}

/** Renews the lease and returns what the worker must know about the runs it believes to hold. */
export async function renewLease(
  db: pg.Pool,
  { workerId, held, leaseMs, clock }: { workerId: string; held: Fence[]; leaseMs: number; clock: ClockWatch },
): Promise<LeaseRenewal> {
  const renew = () =>
    db.query<RenewalRow>({
      name: 'engine_renew_worker_lease',
      text: `WITH renewed AS (
             UPDATE worker SET lease_until = now() + make_interval(secs => $2::float8 / 1000)
             FROM (SELECT set_config('synchronous_commit', 'off', true)) AS lax
             WHERE worker_id = $1 RETURNING 1
           )
           SELECT EXISTS (SELECT 1 FROM renewed) AS is_registered, ${DATABASE_MS} AS database_ms,
                  (SELECT coalesce(jsonb_agg(jsonb_build_object('runId', run_id, 'threadId', thread_id, 'epoch', epoch::text,
                                                                'action', cancel_action, 'reason', cancel_reason)), '[]')
                   FROM run WHERE worker_id = $1 AND status = 'running') AS runs`,
      values: [workerId, leaseMs],
    });
  const { rows } = await clock.read(renew, (answer) => answer.rows[0]!.database_ms);
  const { is_registered: isRegistered, runs } = rows[0]!;
  const owned = new Map(runs.map((run) => [run.runId, run]));
  const isHeld = new Set(held.map(({ runId, epoch }) => `${runId} ${epoch}`));
  return {
    isRegistered,
    orders: runs.flatMap(({ runId, action, reason }) => (action ? [{ runId, action, reason: reason ?? '' }] : [])),
    lost: held.filter(({ runId, epoch }) => runId !== null && owned.get(runId)?.epoch !== String(epoch)),
    unheld: runs.flatMap(({ runId, threadId, epoch }) =>
      isHeld.has(`${runId} ${epoch}`) ? [] : [{ runId, threadId, epoch: BigInt(epoch) }],
    ),
  };
}

interface RenewalRow {
  is_registered: boolean;
  database_ms: number;
  runs: OwnedRow[];
}

interface OwnedRow {
  runId: string;
  threadId: string;
  epoch: string;
  action: CancelAction | null;
  reason: string | null;
}

/** Returns whether the revision of a worker is the one that may claim. */
export async function mayClaim(db: pg.Pool, workerId: string): Promise<boolean> {
  const { rows } = await db.query({
    name: 'engine_may_claim',
    text: `SELECT 1 FROM worker w, deployment d WHERE w.worker_id = $1 AND ${IS_ACTIVE_REVISION}`,
    values: [workerId],
  });
  return rows.length > 0;
}

/** Stops the worker from claiming; it still renews its lease for the runs in flight. */
export async function drainWorker(db: pg.Pool, workerId: string): Promise<void> {
  await db.query('UPDATE worker SET is_draining = true WHERE worker_id = $1', [workerId]);
}

/** Deletes the worker's row. The next sweep takes back runs that it still holds. */
export async function removeWorker(db: pg.Pool, workerId: string): Promise<void> {
  await db.query('DELETE FROM worker WHERE worker_id = $1', [workerId]);
}
