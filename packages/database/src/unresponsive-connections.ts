import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { isUnavailable, sqlState } from './sql-errors.ts';

export interface UnresponsiveConnectionsOptions {
  /** The server of the watched connections. */
  connectionString: string;
  /**
   * Milliseconds without data after which the server is asked about a statement, and for which its answer is awaited.
   */
  unresponsiveMs: number;
  /** Name of the connection that probes. */
  applicationName: string;
}

/** The part of a `pg` connection that is watched. */
interface Watched {
  processID: number;
  /** False during a statement. */
  readyForQuery: boolean;
  connection: { stream: WatchedSocket };
}

/** The part of its socket that is watched. */
interface WatchedSocket {
  bytesRead: number;
  /** Bytes passed to the socket, including those that were not sent yet. */
  bytesWritten: number;
  /** Reports the bytes of a large write that were not sent yet; Node's own socket timeouts read it too. */
  _handle?: { writeQueueSize?: number } | null;
  destroy(error?: Error): void;
}

interface LastActivity {
  bytes: number;
  /** Monotonic milliseconds. */
  since: number;
}

/** Milliseconds to read answers that wait in sockets, before a connection is judged. */
const READ_MS = 100;
/** SQLSTATE of a server that is alive and accepts no more connections. */
const TOO_MANY_CONNECTIONS = '53300';

/**
 * Closes connections whose statement will never be answered. A network that drops packets gives no error, and a
 * statement may legitimately take minutes. So the server is asked over a separate connection whether it executes the
 * statements of those without data. Others have failed, and all have when the server is unreachable.
 */
export class UnresponsiveConnections {
  readonly #options: UnresponsiveConnectionsOptions;
  readonly #watched = new Map<Watched, LastActivity | undefined>();
  #timer: NodeJS.Timeout | undefined;
  #isProbing = false;

  constructor(options: UnresponsiveConnectionsOptions) {
    this.#options = options;
  }

  add(client: pg.PoolClient): void {
    this.#watched.set(client as unknown as Watched, undefined);
    this.#timer ??= setInterval(() => this.#checkActivity(), this.#options.unresponsiveMs / 3).unref();
  }

  remove(client: pg.PoolClient): void {
    this.#watched.delete(client as unknown as Watched);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Closes all connections without waiting for the server. */
  destroyAll(): void {
    for (const client of this.#watched.keys()) client.connection.stream.destroy();
  }

  #checkActivity(): void {
    const now = performance.now();
    const unresponsive: Watched[] = [];
    for (const [client, before] of this.#watched) {
      const bytes = bytesOf(client);
      if (client.readyForQuery) this.#watched.set(client, undefined);
      else if (before?.bytes !== bytes) this.#watched.set(client, { bytes, since: now });
      else if (now - before.since >= this.#options.unresponsiveMs) unresponsive.push(client);
    }
    if (unresponsive.length === 0 || this.#isProbing) return;
    this.#isProbing = true;
    void this.#probe(unresponsive).finally(() => {
      this.#isProbing = false;
    });
  }

  async #probe(unresponsive: Watched[]): Promise<void> {
    const before = new Map(unresponsive.map((client) => [client, bytesOf(client)]));
    const isExecuting = await this.#findExecuting(unresponsive);
    await pause(READ_MS);
    for (const client of unresponsive) {
      if (isExecuting(client) || bytesOf(client) !== before.get(client)) continue;
      client.connection.stream.destroy(unresponsiveError());
    }
  }

  async #findExecuting(unresponsive: Watched[]): Promise<(client: Watched) => boolean> {
    const { connectionString, applicationName, unresponsiveMs } = this.#options;
    const probe = new pg.Client({
      connectionString,
      application_name: `${applicationName}-watch`,
      connectionTimeoutMillis: unresponsiveMs,
      query_timeout: unresponsiveMs,
      statement_timeout: unresponsiveMs,
    });
    probe.on('error', () => undefined);
    try {
      await probe.connect();
      const { rows } = await probe.query<{ own: number; pids: number[] }>(
        `SELECT pg_backend_pid() AS own,
                array(SELECT pid FROM pg_stat_activity WHERE pid = ANY($1::int[]) AND state = 'active'
                      AND wait_event_type IS DISTINCT FROM 'Client') AS pids`,
        [unresponsive.map(({ processID }) => processID)],
      );
      const { own, pids } = rows[0]!;
      // Behind a pooler the connection ids are the pooler's: it answers, and nothing more is known.
      if (own !== (probe as unknown as Watched).processID) return () => true;
      const atWork = new Set(pids);
      return ({ processID }) => atWork.has(processID);
    } catch (error) {
      const state = sqlState(error);
      const isReachable = state !== undefined && (state === TOO_MANY_CONNECTIONS || !isUnavailable(error));
      return () => isReachable;
    } finally {
      void probe.end().catch(() => undefined);
    }
  }
}

function bytesOf({ connection: { stream } }: Watched): number {
  return stream.bytesRead + stream.bytesWritten - (stream._handle?.writeQueueSize ?? 0);
}

/** Makes an error in the form of network errors, which the code above the driver knows. */
function unresponsiveError(): Error {
  return Object.assign(new Error('Connection terminated: the database did not answer'), {
    code: 'ETIMEDOUT',
    errno: -110,
    syscall: 'read',
  });
}
