import pg from 'pg';
import { SilentConnections } from './silent-connections.ts';
import { causesOf, sqlState } from './sql-errors.ts';

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
  /** A transaction left open without a statement is ended by the server, so that a stuck process cannot hold locks. Default 15 s. */
  idleInTransactionTimeoutMs?: number;
  /** How long a caller waits for a connection, new or freed, before it gets an error. Default 10 s. */
  connectTimeoutMs?: number;
  /**
   * Callers wait on, longer than that, while every connection is there and in use: each statement has its time limit, so their
   * turn comes. Default false: they get `PoolBusyError`.
   */
  waitsWhileBusy?: boolean;
  /**
   * When nothing has come for this long while a statement is under way, the server is asked whether it is at work on it; if
   * not, the connection is lost. Default 3 s.
   */
  silentMs?: number;
  /** Told when a connection is lost while nobody uses it. The pool replaces it by itself. */
  onConnectionLost?: (error: Error) => void;
}

/**
 * How soon the server notices that this side is gone, and with it the locks that it holds: a peer that is silent, one that does
 * not take what it is sent, and one that closed its connection while its statement still runs.
 */
const NOTICE_DEAD_PEERS = [
  '-c tcp_keepalives_idle=10',
  '-c tcp_keepalives_interval=5',
  '-c tcp_keepalives_count=3',
  '-c tcp_user_timeout=25s',
].join(' ');
/** The last of these: refused by servers on systems that cannot tell, such as Windows, and not known before Postgres 14. */
const CHECK_SETTING = 'client_connection_check_interval';
const CHECK_CLIENTS = `-c ${CHECK_SETTING}=5s`;
/** What closing the pool may take before its connections are closed without the server. */
const CLOSE_MS = 3_000;

/**
 * Opens a pool; connections are made as they are needed. A server that goes away, or a network that swallows what is sent, is an
 * error of the statements under way and never of the process: the pool heals by itself once the server is back.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const { connectionString, applicationName, silentMs = 3_000 } = options;
  const silent = new SilentConnections({ connectionString, applicationName, silentMs });
  const pool = new CountingPool(silent, options.waitsWhileBusy ?? false, {
    connectionString,
    max: options.max,
    min: options.min ?? 0,
    application_name: applicationName,
    options: `${NOTICE_DEAD_PEERS} ${CHECK_CLIENTS}`,
    statement_timeout: options.statementTimeoutMs ?? 15 * 60_000,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 15_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idleTimeoutMillis: 60_000,
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // The pool listens only to idle clients. One that is lost between two statements of a transaction would otherwise be an
  // error event without a listener, which ends the process; its next statement reports the loss.
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
    silent.add(client);
    client.once('end', () => silent.remove(client));
  });
  return pool;
}

/** Invalid value, unknown name. */
const REFUSED_SETTING: ReadonlySet<string> = new Set(['22023', '42704']);

/** Every connection of the pool was in use for as long as a caller waits. The database is there. */
export class PoolBusyError extends Error {
  constructor() {
    super('All connections of the pool are in use.');
    this.name = 'PoolBusyError';
  }
}

/** Whether this is why something failed, also when it is the cause of another error. */
export function isPoolBusy(error: unknown): boolean {
  return [...causesOf(error)].some((cause) => cause instanceof PoolBusyError);
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** What the pool says to a caller whose turn did not come; one for whom a connection was being made is told otherwise. */
const QUEUED_TOO_LONG = 'timeout exceeded when trying to connect';

/**
 * Counts what callers met; every query of a pool goes through `connect`. Tells a pool whose connections are all in use from a
 * database to which none can be made. A server that cannot look after its clients is asked for everything else. The pool's end does
 * not wait for a silent server.
 */
class CountingPool extends pg.Pool {
  queued = 0;
  failed = 0;
  readonly #silent: SilentConnections;
  readonly #waitsWhileBusy: boolean;
  /** Connections that are there; others of the pool are being made. */
  #connected = 0;

  constructor(silent: SilentConnections, waitsWhileBusy: boolean, config: pg.PoolConfig) {
    super(config);
    this.#silent = silent;
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
    const cut = setTimeout(() => this.#silent.destroyAll(), CLOSE_MS);
    const ended = super.end().finally(() => clearTimeout(cut));
    if (!callback) return ended;
    void ended.then(callback, callback);
    return undefined;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (this.idleCount === 0 && this.totalCount >= this.options.max) this.queued += 1;
    const connected = this.#connect(() => super.connect());
    if (!callback) return connected;
    connected.then(
      (client) => callback(undefined, client, (release) => client.release(release as Error | boolean | undefined)),
      (error: Error) => callback(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #connect(connect: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    for (;;) {
      try {
        return await connect();
      } catch (error) {
        if (this.#asksForLess(error)) continue;
        const isBusy = (error as Error).message === QUEUED_TOO_LONG && this.#connected >= this.options.max;
        if (isBusy && this.#waitsWhileBusy) continue;
        this.failed += 1;
        throw isBusy ? new PoolBusyError() : error;
      }
    }
  }

  /** Whether the next connection is worth a try: it will not ask for what this one was refused for. */
  #asksForLess(error: unknown): boolean {
    const isRefused = REFUSED_SETTING.has(sqlState(error) ?? '') && (error as Error).message.includes(CHECK_SETTING);
    if (!isRefused || this.options.options === NOTICE_DEAD_PEERS) return false;
    this.options.options = NOTICE_DEAD_PEERS;
    return true;
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
