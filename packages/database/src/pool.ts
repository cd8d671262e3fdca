import type { Metrics } from '@runyard/service-kit';
import pg from 'pg';

export interface PoolOptions {
  connectionString: string;
  /** Connections at most. The sum over all processes must stay below the server's `max_connections`. */
  max: number;
  /** Connections that stay open once they were made, although nobody uses them. Default 0. */
  min?: number;
  /** Shown in `pg_stat_activity`; name the service. */
  applicationName: string;
  /** A statement that runs longer is cancelled. Default 15 minutes; far less on a run's path, below its lease. */
  statementTimeoutMs?: number;
  /** A transaction left open without a statement is ended by the server, so that a stuck process cannot hold locks. */
  idleInTransactionTimeoutMs?: number;
  /** How long a caller waits for a connection, new or freed, before it gets an error. */
  connectTimeoutMs?: number;
  /** Told when a connection is lost while nobody uses it. The pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void;
}

/**
 * Opens a pool; connections are made as they are needed. A server that goes away is an error of the statements under way and
 * never of the process: the pool heals by itself once the server is back.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new CountingPool({
    connectionString: options.connectionString,
    max: options.max,
    min: options.min ?? 0,
    application_name: options.applicationName,
    statement_timeout: options.statementTimeoutMs ?? 15 * 60_000,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 60_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idleTimeoutMillis: 60_000,
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // The pool listens only to idle clients. One that is lost between two statements of a transaction would otherwise be an
  // error event without a listener, which ends the process; its next statement reports the loss.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** Counts what callers met; every query of a pool goes through `connect`. */
class CountingPool extends pg.Pool {
  queued = 0;
  failed = 0;

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (this.idleCount === 0 && this.totalCount >= this.options.max) this.queued += 1;
    if (callback) {
      super.connect((error, client, done) => {
        if (error) this.failed += 1;
        callback(error, client, done);
      });
      return undefined;
    }
    return super.connect().catch((error: unknown) => {
      this.failed += 1;
      throw error;
    });
  }
}

/** How a pool is used right now, for gauges. */
export interface PoolUse {
  open: number;
  idle: number;
  /** Callers that wait for a connection. */
  waiting: number;
  max: number;
  /** Callers so far that had to wait for a connection. */
  queued: number;
  /** Callers so far that got none. */
  failed: number;
}

export function poolUse(pool: pg.Pool): PoolUse {
  const { queued, failed } = pool instanceof CountingPool ? pool : { queued: 0, failed: 0 };
  const { totalCount: open, idleCount: idle, waitingCount: waiting, options } = pool;
  return { open, idle, waiting, max: options.max, queued, failed };
}

/** Reports how the pool is used in the process's metrics. */
export function observePool(pool: pg.Pool, metrics: Metrics): void {
  metrics.gauge('postgres_pool', 'Connections of the pool, and callers waiting for one.', ['state'], (gauge) => {
    const { open, idle, waiting, max } = poolUse(pool);
    gauge.set({ state: 'busy' }, open - idle);
    gauge.set({ state: 'idle' }, idle);
    gauge.set({ state: 'waiting' }, waiting);
    gauge.set({ state: 'max' }, max);
  });
}
