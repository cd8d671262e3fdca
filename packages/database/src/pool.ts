import pg from 'pg';
import { cancellableClient } from './cancellable-client.ts';
import { clientBeforeRows } from './client-before-rows.ts';
import { PoolBusyError } from './pool-busy-error.ts';
import { pooledClient } from './pooled-client.ts';
import { currentWork } from './read-limits.ts';
import { closeReadOnlyConnections } from './read-only-connections.ts';
import { causesOf, sqlState } from './sql-errors.ts';
import { UnresponsiveConnections } from './unresponsive-connections.ts';

export interface PoolOptions {
  connectionString: string;
  /** Maximum number of connections. The sum over all processes must stay below the server's `max_connections`. */
  max: number;
  /** Number of connections that stay open although nobody uses them. Default 0. */
  min?: number;
  /** Name in `pg_stat_activity`: the service. */
  applicationName: string;
  /**
   * Milliseconds after which a statement is cancelled. Default 15 minutes; much less where runs wait, below their
   * lease.
   */
  statementTimeoutMs?: number;
  /**
   * Milliseconds for which a statement waits for a lock (then 55P03), unless its transaction says otherwise. Default:
   * as long as the statement may take.
   */
  lockTimeoutMs?: number;
  /**
   * Milliseconds after which the server ends an open transaction without a statement, so that a stuck process cannot
   * hold locks. Default 15 s.
   */
  idleInTransactionTimeoutMs?: number;
  /** Milliseconds for which a caller waits for a connection before it gets an error. Default 10 s. */
  connectTimeoutMs?: number;
  /**
   * True when callers wait longer than that while all connections exist and are in use: each statement has its time
   * limit, so their turn comes. Default false: they get `PoolBusyError`.
   */
  waitsWhileBusy?: boolean;
  /**
   * Milliseconds without data during a statement after which the server is asked whether it executes it; if not, the
   * connection is lost. Default 3 s.
   */
  unresponsiveMs?: number;
  /** False for statements without names, behind poolers that keep no prepared statements. Default true. */
  preparedStatements?: boolean;
  /**
   * Is awaited before the rows of a statement are returned: it gets what they may need, whoever reads them. It must not
   * use the pool, whose connections may all wait for it. `withoutBeforeRows` makes exceptions.
   */
  beforeRows?: (rows: unknown[]) => Promise<void> | undefined;
  /** Is called when an idle connection is lost. The pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void;
}

/**
 * Settings that make the server detect a lost client, and release its locks: a peer that is silent, one that does not
 * accept data, and one that closed its connection while its statement still runs.
 */
const DETECT_DEAD_PEERS = [
  '-c tcp_keepalives_idle=10',
  '-c tcp_keepalives_interval=5',
  '-c tcp_keepalives_count=3',
  '-c tcp_user_timeout=25s',
].join(' ');
/** Compiling a statement takes longer than any of ours: a search over many partitions took 0.2 s instead of 0.04. */
const WITHOUT_JIT = '-c jit=off';
const SESSION = `${DETECT_DEAD_PEERS} ${WITHOUT_JIT}`;
/**
 * The check for closed connections: servers on systems without support, such as Windows, refuse it, and Postgres before
 * 14 does not know it.
 */
const CHECK_SETTING = 'client_connection_check_interval';
const CHECK_CLIENTS = `-c ${CHECK_SETTING}=5s`;
/** Milliseconds that closing the pool may take before its connections are closed without the server. */
const CLOSE_MS = 3_000;

/**
 * Opens a pool; connections are opened as they are needed. A server that stops, or a network that drops packets, fails
 * the statements in flight and never the process: the pool recovers by itself once the server is back.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const { connectionString, applicationName, unresponsiveMs = 3_000 } = options;
  const unresponsive = new UnresponsiveConnections({ connectionString, applicationName, unresponsiveMs });
  const limits = {
    statement_timeout: Math.ceil(options.statementTimeoutMs ?? 15 * 60_000),
    idle_in_transaction_session_timeout: Math.ceil(options.idleInTransactionTimeoutMs ?? 15_000),
    ...(options.lockTimeoutMs !== undefined && { lock_timeout: Math.ceil(options.lockTimeoutMs) }),
  };
  const Client = cancellableClient(pooledClient({ limits, preparedStatements: options.preparedStatements ?? true }));
  const pool = new CountingPool(unresponsive, options.waitsWhileBusy ?? false, {
    connectionString,
    Client: options.beforeRows ? clientBeforeRows(Client, options.beforeRows) : Client,
    max: options.max,
    min: options.min ?? 0,
    application_name: applicationName,
    // A connection string may have `options` of its own, which win.
    options: `${SESSION} ${CHECK_CLIENTS}`,
    ...limits,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idleTimeoutMillis: 60_000,
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  closeReadOnlyConnections(pool);
  // The pool listens only to idle clients. A loss between two statements of a transaction would otherwise be an error
  // event without a listener, which ends the process; the next statement reports the loss.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    unresponsive.add(client);
    client.once('end', () => unresponsive.remove(client));
  });
  return pool;
}

/** SQLSTATEs of an invalid value and of an unknown name. */
const REFUSED_SETTING: ReadonlySet<string> = new Set(['22023', '42704']);

/** Returns whether the pool was busy, also when that is the cause of another error. */
export function isPoolBusy(error: unknown): boolean {
  return [...causesOf(error)].some((cause) => cause instanceof PoolBusyError);
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/**
 * The pool's error for a caller whose turn did not come; a caller for whom a connection was being opened gets another
 * one.
 */
const QUEUED_TOO_LONG = 'timeout exceeded when trying to connect';

/**
 * Counts waiting and failed callers; every query of a pool goes through `connect`. Distinguishes a pool whose
 * connections are all in use from an unavailable database. Drops the client check when the server does not support it.
 * Ending the pool does not wait for an unresponsive server.
 */
class CountingPool extends pg.Pool {
  queued = 0;
  failed = 0;
  readonly #unresponsive: UnresponsiveConnections;
  readonly #waitsWhileBusy: boolean;
  /** Number of open connections; others of the pool are being opened. */
  #connected = 0;

  constructor(unresponsive: UnresponsiveConnections, waitsWhileBusy: boolean, config: pg.PoolConfig) {
    super(config);
    this.#unresponsive = unresponsive;
    this.#waitsWhileBusy = waitsWhileBusy;
    this.on('connect', (client) => {
      this.#connected += 1;
      client.once('end', () => {
        this.#connected -= 1;
      });
    });
  }

  override end(): Promise<void>;
  override end(callback: () => void): void;
  override end(callback?: () => void): Promise<void> | undefined {
    const cut = setTimeout(() => this.#unresponsive.destroyAll(), CLOSE_MS);
    const ended = super.end().finally(() => clearTimeout(cut));
    if (!callback) return ended;
    void ended.then(callback, callback);
    return undefined;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (this.idleCount === 0 && this.totalCount >= this.options.max) this.queued += 1;
    const connected = this.#connectWithin(() => this.#connect(() => super.connect()));
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (release) => client.release(release as Error | boolean | undefined)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  /** Counts the connection among those that the work may have. */
  async #connectWithin(connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    const work = currentWork();
    if (!work) return connect();
    const givePlaceBack = await work.limits.takePlace(work.signal, this.options.connectionTimeoutMillis ?? 0);
    try {
      const client = await connect();
      const { release } = client;
      client.release = (error) => {
        givePlaceBack();
        release(error);
      };
      return client;
    } catch (error) {
      givePlaceBack();
      throw error;
    }
  }

  async #connect(connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (this.#dropRefusedSetting(error)) continue;
        const isBusy = (error as Error).message === QUEUED_TOO_LONG && this.#connected >= this.options.max;
        if (isBusy && this.#waitsWhileBusy) continue;
        this.failed += 1;
        throw isBusy ? new PoolBusyError() : error;
      }
    }
  }

  /** Returns whether another connection should be tried, without the setting that the server refused. */
  #dropRefusedSetting(error: unknown): boolean {
    const isRefused = REFUSED_SETTING.has(sqlState(error) ?? '') && (error as Error).message.includes(CHECK_SETTING);
    if (!isRefused || this.options.options === SESSION) return false;
    this.options.options = SESSION;
    return true;
  }
}

/** The use of a pool at the moment, for gauges. */
export interface PoolStats {
  open: number;
  idle: number;
  /** Number of callers that wait for a connection. */
  waiting: number;
  max: number;
  /** Number of callers so far that had to wait for a connection. */
  queued: number;
  /** Number of callers so far that got none. */
  failed: number;
}

export function readPoolStats(pool: pg.Pool): PoolStats {
  const { queued, failed } = pool instanceof CountingPool ? pool : { queued: 0, failed: 0 };
  const { totalCount: open, idleCount: idle, waitingCount: waiting, options } = pool;
  return { open, idle, waiting, max: options.max, queued, failed };
}
