import { openPool } from '@runyard/database';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';
import type { Config } from './config.ts';

/** A machine that is busy may need this long to make a connection. */
const SILENT_MS_MIN = 1_000;
/** One for the lease and one for the sweep. */
const UPKEEP_CONNECTIONS = 2;

export interface WorkerDatabase {
  /** For runs: claims, checkpoints, the store, ends. How long its connections are taken is up to the project's code. */
  pool: pg.Pool;
  /** Connections that no run can take: the lease is renewed, and lost runs are taken back, however busy the other ones are. */
  upkeepPool: pg.Pool;
}

/** The database of the deployment. Its tables are made by agent-api. */
export function openDatabase(config: Config, { logger, lifecycle }: ServiceContext): WorkerDatabase {
  const leaseMs = config.WORKER_LEASE_SECONDS * 1000;
  const options = {
    connectionString: config.DATABASE_URI,
    connectTimeoutMs: config.DATABASE_POOL_TIMEOUT_SECONDS * 1000,
    // A write that takes longer than the lease is somebody else's business already.
    statementTimeoutMs: leaseMs * 0.8,
    idleInTransactionTimeoutMs: leaseMs * 0.5,
    silentMs: Math.max(SILENT_MS_MIN, leaseMs * 0.2),
    onConnectionLost: (error: Error) => logger.warn('a database connection was lost', { error }),
  };
  const pool = openPool({
    ...options,
    max: config.DATABASE_POOL_SIZE,
    min: config.DATABASE_POOL_MIN_SIZE,
    // Runs that keep every connection busy are no outage: the others wait for their turn.
    waitsWhileBusy: true,
    applicationName: 'runyard-run-worker',
  });
  lifecycle.onStop('database', () => pool.end());
  const upkeepPool = openPool({ ...options, max: UPKEEP_CONNECTIONS, applicationName: 'runyard-run-worker-upkeep' });
  lifecycle.onStop('database for upkeep', () => upkeepPool.end());
  return { pool, upkeepPool };
}
