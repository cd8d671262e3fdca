import { setTimeout as pause } from 'node:timers/promises';
import { createTestDatabase, FaultLine, type TestDatabase, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { isUnavailable, openPool, withTransaction } from './index.ts';
import { UnresponsiveConnections } from './unresponsive-connections.ts';

const UNRESPONSIVE_MS = 300;

let database: TestDatabase;
let line: FaultLine;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  line = await FaultLine.to(database.url);
  pool = openPool({
    connectionString: line.url,
    max: 4,
    applicationName: 'silent-test',
    unresponsiveMs: UNRESPONSIVE_MS,
    connectTimeoutMs: 500,
  });
});
afterEach(async () => {
  await line.heal();
  await pool.end();
  await line.close();
});
afterAll(() => database.close());

/** Without the check of connections, nothing would ever end what a partition cuts off. */
const failsAsOutage = (asked: Promise<unknown>) => asked.then(() => false, isUnavailable);

it('a statement lost in a partition fails as an outage, and the pool works at once when the network is back', async () => {
  await pool.query('SELECT 1');
  line.partition();
  expect(await failsAsOutage(pool.query('SELECT 2'))).toBe(true);
  expect(pool.totalCount).toBe(0);
  await line.heal();
  expect((await pool.query('SELECT 3 AS n')).rows).toEqual([{ n: 3 }]);
});

it('a lost answer is detected, although the server executed the statement', async () => {
  await pool.query('CREATE TABLE done (n int)');
  line.partition('down');
  expect(await failsAsOutage(pool.query('INSERT INTO done VALUES (1)'))).toBe(true);
  await line.heal();
  expect((await pool.query('SELECT n FROM done')).rows).toEqual([{ n: 1 }]);
});

it('a transaction in a partition fails as a whole, and its connection is not used again', async () => {
  const asked = withTransaction(pool, async (client) => {
    await client.query('SELECT 1');
    line.partition();
    await client.query('SELECT 2');
  });
  expect(await failsAsOutage(asked)).toBe(true);
  expect(pool.totalCount).toBe(0);
});

it('a statement that takes long, or waits for a lock, is left alone', async () => {
  await pool.query('CREATE TABLE item (id int)');
  const holder = await pool.connect();
  await holder.query('BEGIN; LOCK TABLE item');
  const waiting = pool.query('SELECT count(*)::int AS n FROM item');
  const sleeping = pool.query('SELECT pg_sleep(1.5), 4 AS n');
  await pause(4 * UNRESPONSIVE_MS);
  await holder.query('COMMIT');
  holder.release();
  expect((await waiting).rows).toEqual([{ n: 0 }]);
  expect((await sleeping).rows[0]!.n).toBe(4);
});

it('a statement that is still being sent is left alone: a large one takes long over a slow connection', async () => {
  const givenUp: string[] = [];
  const sending = (name: 'moving' | 'stuck') => {
    let left = 1_000_000;
    // A socket counts all of a large write as written at once; the queue shows what was sent.
    const handle = {
      get writeQueueSize() {
        if (name === 'moving') left -= 1_000;
        return left;
      },
    };
    const stream = { bytesRead: 0, bytesWritten: 1_000_000, _handle: handle, destroy: () => void givenUp.push(name) };
    return { processID: 0, readyForQuery: false, connection: { stream } } as unknown as pg.PoolClient;
  };
  const silent = new UnresponsiveConnections({
    connectionString: database.url,
    applicationName: 'silent-test',
    unresponsiveMs: UNRESPONSIVE_MS,
  });
  const [moving, stuck] = [sending('moving'), sending('stuck')];
  silent.add(moving);
  silent.add(stuck);
  await waitFor(() => givenUp.length > 0, { what: 'the one that does not move to be given up' });
  silent.remove(stuck);
  await pause(2 * UNRESPONSIVE_MS);
  silent.remove(moving);
  expect(givenUp).not.toContain('moving');
});

it('the server releases what a statement of a closed connection waits for or holds', async () => {
  const settings = ['tcp_keepalives_idle', 'tcp_user_timeout', 'client_connection_check_interval'];
  const { rows } = await pool.query(
    `SELECT name, setting || coalesce(unit, '') AS value FROM pg_settings WHERE name = ANY($1) ORDER BY name`,
    [settings],
  );
  expect(rows).toEqual([
    { name: 'client_connection_check_interval', value: '5000ms' },
    { name: 'tcp_keepalives_idle', value: '10s' },
    { name: 'tcp_user_timeout', value: '25000ms' },
  ]);
});

it('a pool can be closed during a partition', async () => {
  await Promise.all([pool.query('SELECT 1'), pool.query('SELECT 1')]);
  line.partition();
  await pool.end();
  await waitFor(() => pool.totalCount === 0);
  // The next hook closes an open pool.
  pool = openPool({ connectionString: database.url, max: 1, applicationName: 'silent-test' });
});
