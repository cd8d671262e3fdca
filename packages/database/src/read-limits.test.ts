import { createTestDatabase, type TestDatabase, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isPoolBusy, openPool, ReadLimits, sqlState, toUnavailableError, underCurrentLimits } from './index.ts';

let database: TestDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({
    connectionString: database.url,
    max: 2,
    applicationName: 'read-limits-test',
    connectTimeoutMs: 200,
    beforeRows: async () => undefined,
  });
});
afterAll(async () => {
  await pool.end();
  await database.close();
});

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
const hang = () => pool.query('SELECT pg_sleep(600)');
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
