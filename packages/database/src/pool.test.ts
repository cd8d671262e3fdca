import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { Metrics } from '@runyard/service-kit';
import { createTestDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  isDataError,
  isPoolBusy,
  isRetryable,
  isUnavailable,
  openPool,
  readPoolStats,
  reportPoolMetrics,
  sqlState,
  toUnavailableError,
  withoutBeforeRows,
  withTransaction,
} from './index.ts';

let database: TestDatabase;
let pools: pg.Pool[];

beforeAll(async () => {
  database = await createTestDatabase();
  pools = [];
  await open().query('CREATE TABLE item (id int PRIMARY KEY, n int NOT NULL DEFAULT 0)');
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
});
afterAll(() => database.close());

function open(options: Partial<Parameters<typeof openPool>[0]> = {}): pg.Pool {
  const pool = openPool({ connectionString: database.url, max: 4, applicationName: 'pool-test', ...options });
  pools.push(pool);
  return pool;
}
/** Ends the server's side of the connections, like a restart of the server. */
const cutConnections = (by: pg.Pool) =>
  by.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = 'victim' AND datname = current_database()`);

describe('openPool', () => {
  it('gives connections the requested name and limits', async () => {
    const pool = open({ statementTimeoutMs: 1234, lockTimeoutMs: 432, idleInTransactionTimeoutMs: 5678 });
    const show = async (name: string) => (await pool.query(`SHOW ${name}`)).rows[0][name];
    expect(await show('application_name')).toBe('pool-test');
    expect(await show('statement_timeout')).toBe('1234ms');
    expect(await show('lock_timeout')).toBe('432ms');
    expect(await show('idle_in_transaction_session_timeout')).toBe('5678ms');
    const byDefault = open();
    expect((await byDefault.query('SHOW statement_timeout')).rows[0].statement_timeout).toBe('15min');
  });

  it('closes a connection whose server takes no writes, so that the next one finds the server that does', async () => {
    const pool = open({ max: 1 });
    const setReadOnly = (value: string) =>
      open({ max: 1 }).query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = ${value}`);
    const remove = () => withTransaction(pool, (client) => client.query('DELETE FROM item WHERE id = 25006'));
    await setReadOnly('on');
    try {
      const error = await remove().catch((failure: unknown) => failure);
      expect([sqlState(error), isUnavailable(error)]).toEqual(['25006', true]);
      expect(toUnavailableError(error)).toMatchObject({ status: 503, code: 'database_unavailable' });
    } finally {
      const writing = open({ max: 1 });
      await writing.query('SET default_transaction_read_only = off');
      await writing.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = off`);
    }
    await remove();
  });

  it('reports and replaces a connection that is lost while idle', async () => {
    const lost: Error[] = [];
    const pool = open({ applicationName: 'victim', onConnectionLost: (error) => lost.push(error) });
    await pool.query('SELECT 1');
    await cutConnections(open());
    await waitFor(() => lost.length === 1);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('fails only the transaction whose connection is lost between two statements', async () => {
    const pool = open({ applicationName: 'victim' });
    const other = open();
    const failing = withTransaction(pool, async (client) => {
      const gone = new Promise((resolve) => client.once('end', resolve));
      await cutConnections(other);
      await gone;
      await client.query('SELECT 1');
    });
    const error = await failing.catch((caught: unknown) => caught);
    expect(isUnavailable(error)).toBe(true);
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(readPoolStats(pool)).toEqual({ open: 1, idle: 1, waiting: 0, max: 4, queued: 0, failed: 0 });
  });

  it('reports that the pool is busy, not that the database is unavailable, when no connection becomes free', async () => {
    const pool = open({ max: 1, connectTimeoutMs: 300 });
    const client = await pool.connect();
    const error = await pool.query('SELECT 1').catch((caught: unknown) => caught);
    const wrapped = new Error('failed', { cause: await pool.connect().catch((caught: unknown) => caught) });
    client.release();
    expect([isPoolBusy(error), isPoolBusy(wrapped), isUnavailable(error)]).toEqual([true, true, false]);
    expect(toUnavailableError(error)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(readPoolStats(pool)).toMatchObject({ queued: 2, failed: 2 });
  });

  it('awaits what rows may need before it returns them, to whoever asks, and fails with it', async () => {
    const seen: unknown[] = [];
    const pool = open({
      max: 1,
      beforeRows: async (rows) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(...rows);
        if (JSON.stringify(rows).includes('7')) throw new Error('not to be had');
      },
    });
    expect((await pool.query({ name: 'one', text: 'SELECT $1::int AS n', values: [1] })).rows).toEqual([{ n: 1 }]);
    await withTransaction(pool, async (client) => {
      expect((await client.query({ text: 'SELECT 2 AS n', rowMode: 'array' })).rows).toEqual([[2]]);
    });
    expect(seen).toEqual([{ n: 1 }, [2]]);
    await expect(pool.query('SELECT 7 AS n')).rejects.toThrow('not to be had');
    await expect(pool.query('SELECT wrong')).rejects.toMatchObject({ code: '42703' });
    expect((await pool.query('SELECT 3 AS n')).rows).toEqual([{ n: 3 }]);
  });

  it('returns the rows of a shared statement at once, although those of others wait', async () => {
    const pool = open({
      max: 1,
      beforeRows: async (rows) => {
        if (rows.length > 0) throw new Error('not to be had');
      },
    });
    const shared = withoutBeforeRows({ name: 'shared', text: 'SELECT $1::int AS n', values: [1] });
    expect((await pool.query(shared)).rows).toEqual([{ n: 1 }]);
    const inTransaction = await withTransaction(pool, (client) => client.query(shared));
    expect(inTransaction.rows).toEqual([{ n: 1 }]);
    await expect(pool.query('SELECT 1')).rejects.toThrow('not to be had');
  });

  it('lets a caller wait for its turn while the pool is busy, however long that takes', async () => {
    const pool = open({ max: 1, connectTimeoutMs: 300, waitsWhileBusy: true });
    const client = await pool.connect();
    const [connect, query] = [pool.connect(), pool.query('SELECT 1 AS one')];
    // A second caller has waited as long as the first when the first waits for the second time.
    const impatient = open({ max: 1, connectTimeoutMs: 300 });
    const held = await impatient.connect();
    await expect(impatient.query('SELECT 1')).rejects.toThrow('in use');
    held.release();
    client.release();
    (await connect).release();
    expect((await query).rows).toEqual([{ one: 1 }]);
    expect(readPoolStats(pool)).toMatchObject({ failed: 0 });
  });

  it('reports that the database is unavailable when a connection to an unresponsive server cannot be opened', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const pool = open({
      connectionString: `postgres://a:b@127.0.0.1:${port}/c`,
      max: 1,
      connectTimeoutMs: 50,
      waitsWhileBusy: true,
    });
    const errors = await Promise.all([1, 2].map(() => pool.query('SELECT 1').catch((caught: unknown) => caught)));
    expect(errors.map(isUnavailable)).toEqual([true, true]);
    expect(errors.map(isPoolBusy)).toEqual([false, false]);
    silent.close();
  });
});

describe('reportPoolMetrics', () => {
  it('reports busy and waiting in the metrics', async () => {
    const pool = open({ max: 1 });
    const metrics = new Metrics();
    reportPoolMetrics(pool, metrics);
    const client = await pool.connect();
    const waiting = pool.query('SELECT 1');
    const text = await metrics.text();
    expect(text).toContain('postgres_pool{state="busy"} 1');
    expect(text).toContain('postgres_pool{state="waiting"} 1');
    client.release();
    await waiting;
  });
});

describe('withTransaction', () => {
  it('commits what the work did when it returns and nothing when it throws', async () => {
    const pool = open();
    await withTransaction(pool, (client) => client.query('INSERT INTO item VALUES (1)'));
    const failing = withTransaction(pool, async (client) => {
      await client.query('INSERT INTO item VALUES (2)');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await pool.query('SELECT id FROM item ORDER BY id')).rows).toEqual([{ id: 1 }]);
  });

  it('retries, on request, the transaction that a deadlock ended', async () => {
    const pool = open();
    await pool.query('INSERT INTO item VALUES (10), (11)');
    let isHolding = 0;
    const bothHold = () => waitFor(() => isHolding >= 2);
    const cross = (first: number, second: number) =>
      withTransaction(
        pool,
        async (client) => {
          await client.query('UPDATE item SET n = n + 1 WHERE id = $1', [first]);
          isHolding += 1;
          await bothHold();
          await client.query('UPDATE item SET n = n + 1 WHERE id = $1', [second]);
        },
        { attempts: 3 },
      );
    await Promise.all([cross(10, 11), cross(11, 10)]);
    expect((await pool.query('SELECT n FROM item WHERE id >= 10')).rows).toEqual([{ n: 2 }, { n: 2 }]);
    // The first repetition may take its row before the other transaction wakes up: then there is a second deadlock.
    expect([3, 4]).toContain(isHolding);
  });

  it('ends the settings of a transaction with it', async () => {
    const pool = open({ max: 1 });
    const inside = await withTransaction(
      pool,
      async (client) => (await client.query('SHOW synchronous_commit')).rows[0].synchronous_commit,
      { waitForDisk: false },
    );
    expect(inside).toBe('off');
    expect((await pool.query('SHOW synchronous_commit')).rows[0].synchronous_commit).toBe('on');
  });
});

describe('kinds of errors', () => {
  const errorOf = (sql: string) =>
    open()
      .query(sql)
      .catch((error: unknown) => error);

  it('distinguish refused data, repeatable failures and an unavailable server', async () => {
    const duplicate = await errorOf('INSERT INTO item VALUES (7), (7)');
    expect([sqlState(duplicate), isDataError(duplicate), isRetryable(duplicate)]).toEqual(['23505', true, false]);
    const serialization = await errorOf(`DO $$ BEGIN RAISE EXCEPTION '' USING ERRCODE = '40001'; END $$`);
    expect([isRetryable(serialization), isDataError(serialization)]).toEqual([true, false]);
    const absent = await open({ connectionString: 'postgres://nobody@127.0.0.1:1/x' })
      .query('SELECT 1')
      .catch((error: unknown) => error);
    expect([sqlState(absent), isUnavailable(absent)]).toEqual([undefined, true]);
    const wrapped = new Error('while saving', { cause: duplicate });
    expect(sqlState(wrapped)).toBe('23505');
    expect(isUnavailable(new Error('something else'))).toBe(false);
  });
});

describe('a server without support for the client check', () => {
  const SETTING = 'client_connection_check_interval';
  let refusing: Server;
  let refused = 0;
  /** Ends connections that request the check, like Postgres on systems without support for it. */
  beforeAll(async () => {
    const { hostname, port } = new URL(database.url);
    refusing = createServer((client) => {
      client.once('data', (hello) => {
        if (hello.includes(SETTING)) {
          refused += 1;
          client.end(fatal('22023', `invalid value for parameter "${SETTING}": 5000`));
          return;
        }
        const server = connect(Number(port), hostname);
        server.on('error', () => client.destroy());
        server.write(hello);
        client.pipe(server).pipe(client);
      });
      client.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise<void>((resolve) => refusing.close(() => resolve())));

  it('is used without the check, and asked once', async () => {
    const url = new URL(database.url);
    url.host = `127.0.0.1:${(refusing.address() as AddressInfo).port}`;
    const pool = open({ connectionString: url.href });
    const { rows } = await pool.query(`SELECT current_setting('tcp_keepalives_idle') AS idle`);
    expect(rows).toHaveLength(1);
    const clients = await Promise.all([pool.connect(), pool.connect()]);
    for (const client of clients) client.release();
    expect(refused).toBe(1);
    expect(readPoolStats(pool).failed).toBe(0);
  });
});

/** Makes the message that a server sends before it ends a connection. */
function fatal(code: string, message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.byteLength + 4, 1);
  return Buffer.concat([head, fields]);
}
