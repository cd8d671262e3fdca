import { openPool } from '@runyard/database';
import type { DataCipher } from '@runyard/encryption';
import { workerSessionName } from '@runyard/run-engine';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';
import type { Config } from './config.ts';

/** One connection for the lease and one for the sweep. */
const UPKEEP_CONNECTIONS = 2;

export interface WorkerDatabase {
  /** Connections for runs: claims, checkpoints, the store, ends. The project's code decides how long they are taken. */
  pool: pg.Pool;
  /**
   * Connections that no run can take: the lease is renewed, and lost runs are taken back, however busy the other ones
   * are.
   */
  upkeepPool: pg.Pool;
}

/** Opens the database of the deployment. agent-api creates its tables. */
export function openDatabase(
  config: Config,
  workerId: string,
  cipher: DataCipher,
  { logger, lifecycle }: ServiceContext,
): WorkerDatabase {
  const leaseMs = config.WORKER_LEASE_SECONDS * 1000;
  const options = {
    connectionString: config.DATABASE_URI,
    connectTimeoutMs: config.DATABASE_POOL_TIMEOUT_SECONDS * 1000,
    // A write that takes longer than the lease would be fenced off anyway.
    statementTimeoutMs: leaseMs * 0.8,
    idleInTransactionTimeoutMs: leaseMs * 0.5,
    applicationName: workerSessionName(workerId),
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS,
    ...(cipher.needsKeys && { beforeRows: (rows: unknown[]) => cipher.loadKeys(rows) }),
    onConnectionLost: (error: Error) => logger.warn('database connection lost', { error }),
  };
  const pool = openPool({
    ...options,
    max: config.DATABASE_POOL_SIZE,
    min: config.DATABASE_POOL_MIN_SIZE,
    // Runs that keep every connection busy are no outage: the others wait for their turn.
    waitsWhileBusy: true,
  });
  lifecycle.onStop('database', () => pool.end());
  const upkeepPool = openPool({ ...options, max: UPKEEP_CONNECTIONS });
  lifecycle.onStop('database for upkeep', () => upkeepPool.end());
  return { pool, upkeepPool };
}
