import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createTestDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isPoolBusy, openPool, ReadLimits, sqlState, toUnavailableError, underCurrentLimits } from './index.ts';
import type { PoolOptions } from './pool.ts';

/** The code with which a request to cancel begins, in place of a version of the protocol. */
const CANCEL_REQUEST = 80_877_102;

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openTestPool(database.url, { connectTimeoutMs: 200 });
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

const openTestPool = (connectionString: string, options: Partial<PoolOptions> = {}) =>
  openPool({
    connectionString,
    max: 2,
    applicationName: 'read-limits-test',
    beforeRows: async () => undefined,
    ...options,
  });
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const hang = () => pool.query('SELECT pg_sleep(600)');
const pidOf = async (queries: pg.Pool | pg.PoolClient) =>
  (await queries.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
const signal = () => new AbortController().signal;

it('reads get their part of the connections, and others the rest', async () => {
  const limits = new ReadLimits({ connectionsMax: 1, statementMs: 60_000 });
  const leaving = new AbortController();
  const hanging = failure(limits.run(leaving.signal, hang));
  await waitFor(() => pool.totalCount === 1 && pool.idleCount === 0);
  const refused = await failure(limits.run(signal(), hang));
  expect(isPoolBusy(refused)).toBe(true);
  expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);

  const waiting = limits.run(signal(), async () => (await pool.query('SELECT 2 AS n')).rows);
  leaving.abort();
  expect(sqlState(await hanging)).toBe('57014');
  expect(await waiting).toEqual([{ n: 2 }]);
});

it('a statement that takes too long is cancelled, and its connection serves the next one', async () => {
  const limits = new ReadLimits({ connectionsMax: 1, statementMs: 50 });
  const error = await failure(limits.run(signal(), hang));
  expect(toUnavailableError(error)).toMatchObject({ status: 503, code: 'database_too_slow' });
  const inTransaction = await limits.run(signal(), async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    const slow = await failure(client.query('SELECT pg_sleep(600)'));
    await client.query('ROLLBACK');
    client.release();
    return slow;
  });
  expect(sqlState(inTransaction)).toBe('57014');
  expect(await limits.run(signal(), async () => (await pool.query('SELECT 3 AS n')).rows)).toEqual([{ n: 3 }]);
});

describe('requests to cancel a statement', () => {
  /** Opens a pool whose first request to cancel is handed to a function, and does not reach the server. */
  async function openPoolThat(takeFirstRequest: (request: Socket) => void) {
    const { port } = new URL(database.url);
    let requests = 0;
    const line = createServer(async (client) => {
      client.on('error', () => undefined);
      const [first] = (await once(client, 'data')) as [Buffer];
      if (first.readInt32BE(4) === CANCEL_REQUEST && ++requests === 1) return takeFirstRequest(client);
      const upstream = connect(Number(port)).on('error', () => client.destroy());
      upstream.write(first);
      client.pipe(upstream).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(line, 'listening');
    const url = new URL(database.url);
    url.hostname = '127.0.0.1';
    url.port = String((line.address() as AddressInfo).port);
    const reached = openTestPool(url.href);
    onTestFinished(async () => {
      await reached.end();
      line.close();
    });
    return reached;
  }

  /** Executes a statement that takes too long, and returns whether the next one comes over the same connection. */
  async function hangOn(reached: pg.Pool) {
    const limits = new ReadLimits({ connectionsMax: 1, statementMs: 50 });
    const client = await reached.connect();
    const pid = await pidOf(client);
    const error = await failure(limits.run(signal(), () => client.query('SELECT pg_sleep(600)')));
    client.release();
    return { error, isSameConnection: (await pidOf(reached)) === pid };
  }

  it('are repeated while the statement goes on, as one before its begin is lost', async () => {
    const reached = await openPoolThat((request) => request.end());
    const { error, isSameConnection } = await hangOn(reached);
    expect([sqlState(error), isSameConnection]).toEqual(['57014', true]);
  });

  it('meet no later statement, also where one is on its way for long', async () => {
    const reached = await openPoolThat(() => undefined);
    const { error, isSameConnection } = await hangOn(reached);
    expect([sqlState(error), isSameConnection]).toEqual(['57014', false]);
  });

  it('meet none of the statements that wait for the same connection', async () => {
    const limits = new ReadLimits({ connectionsMax: 1, statementMs: 50 });
    const [slow, next] = await limits.run(signal(), async () => {
      const client = await pool.connect();
      const answers = [failure(client.query('SELECT pg_sleep(600)')), client.query('SELECT pg_sleep(0.04), 7 AS n')];
      return Promise.all(answers).finally(() => client.release());
    });
    expect([sqlState(slow), (next as pg.QueryResult).rows]).toEqual(['57014', [{ pg_sleep: '', n: 7 }]]);
  });
});

it('what nobody waits for any more begins no further statement, and leaves no transaction open', async () => {
  const limits = new ReadLimits({ connectionsMax: 1, statementMs: 60_000 });
  const leaving = new AbortController();
  const work = limits.run(leaving.signal, async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    leaving.abort(new Error('left'));
    const error = await failure(client.query('SELECT 4'));
    await client.query('ROLLBACK');
    client.release();
    return [error, await failure(pool.query('SELECT 5'))];
  });
  expect(await work).toEqual([new Error('left'), new Error('left')]);
  expect(await limits.run(signal(), async () => (await pool.query('SELECT 6 AS n')).rows)).toEqual([{ n: 6 }]);
});

it('limits hold for what is called from elsewhere, with an object that was made under them', async () => {
  const limits = new ReadLimits({ connectionsMax: 1, statementMs: 50 });
  const backend = { read: () => hang() };
  const made = await limits.run(signal(), async () => underCurrentLimits(backend));
  expect(sqlState(await failure(made.read()))).toBe('57014');
  expect(underCurrentLimits(backend)).toBe(backend);
});
