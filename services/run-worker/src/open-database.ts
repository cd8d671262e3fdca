import { openPool } from '@runyard/database';
import type { ServiceContext } from '@runyard/service-kit';
import type pg from 'pg';
import type { Config } from './config.ts';

/** A machine that is busy may need this long to make a connection. */
const SILENT_MS_MIN = 1_000;

/** The database of the deployment. Its tables are made by agent-api. */
export function openDatabase(config: Config, { logger, lifecycle }: ServiceContext): pg.Pool {
  const leaseMs = config.WORKER_LEASE_SECONDS * 1000;
  const pool = openPool({
    connectionString: config.DATABASE_URI,
    max: config.DATABASE_POOL_SIZE,
    min: config.DATABASE_POOL_MIN_SIZE,
    connectTimeoutMs: config.DATABASE_POOL_TIMEOUT_SECONDS * 1000,
    applicationName: 'runyard-run-worker',
    // A write that takes longer than the lease is somebody else's business already.
    statementTimeoutMs: leaseMs * 0.8,
    idleInTransactionTimeoutMs: leaseMs * 0.5,
    silentMs: Math.max(SILENT_MS_MIN, leaseMs * 0.2),
    onConnectionLost: (error) => logger.warn('a database connection was lost', { error }),
  });
  lifecycle.onStop('database', () => pool.end());
  return pool;
}
