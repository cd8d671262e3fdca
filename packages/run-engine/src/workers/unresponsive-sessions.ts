import type pg from 'pg';

/** Returns the `application_name` of a worker's database sessions, by which other processes recognize them. */
export function workerSessionName(workerId: string): string {
  return `runyard-run-worker ${workerId}`;
}

/**
 * Ends idle-in-transaction sessions of workers that have not renewed for the given share of their lease. A process that
 * stalls in the middle of a transaction keeps its locks, and its runs could not be taken from it. A worker that resumes
 * finds its connection lost and tries again; its fence decides.
 */
export async function endUnresponsiveSessions(db: pg.Pool, unresponsiveShare: number): Promise<void> {
  await db.query({
    name: 'engine_end_unresponsive_sessions',
    text: `SELECT pg_terminate_backend(a.pid)
           FROM worker w JOIN pg_stat_activity a ON a.application_name = '${workerSessionName('')}' || w.worker_id
           WHERE a.datname = current_database() AND a.usename = current_user
             AND a.state IN ('idle in transaction', 'idle in transaction (aborted)')
             AND a.state_change <= now() - make_interval(secs => w.lease_ms * $1::float8 / 1000)
             AND w.lease_until <= now() + make_interval(secs => w.lease_ms * (1 - $1::float8) / 1000)`,
    values: [unresponsiveShare],
  });
}
