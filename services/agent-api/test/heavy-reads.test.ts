import { HANGS_AFTER_MS, waitFor } from '@runyard/test-kit';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { startDeployment, type TestDeployment } from './deployment.ts';
import { ask } from './raw-http.ts';

let deployment: TestDeployment;
let holder: pg.PoolClient;
beforeAll(async () => {
  deployment = await startDeployment({ env: { DATABASE_POOL_SIZE: '4', DATABASE_POOL_TIMEOUT_SECONDS: '60' } });
});
afterAll(() => deployment?.close());
/** Makes every search of the store hang. */
beforeEach(async () => {
  holder = await deployment.pool.connect();
  await holder.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; LOCK TABLE store_item');
});
afterEach(async () => {
  await holder.query('ROLLBACK');
  holder.release();
});

const search = (signal?: AbortSignal) =>
  fetch(`${deployment.url}/store/items/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ namespace_prefix: ['a'] }),
    signal: signal ?? AbortSignal.timeout(HANGS_AFTER_MS),
  });
const hangingSearches = async () => {
  const { rows } = await deployment.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
       AND application_name = 'runyard-agent-api' AND query LIKE '%store_item%'`,
  );
  return rows.length;
};

it('runs are accepted while more searches hang than there are connections', async () => {
  const searches = Promise.all(Array.from({ length: 5 }, () => search()));
  await waitFor(async () => (await hangingSearches()) >= 2, { what: 'two searches to hang' });
  const created = await ask(`${deployment.url}/runs`, { body: { assistant_id: 'echo', input: {} } });
  expect(created.status).toBe(200);
  await holder.query('ROLLBACK');
  expect((await searches).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

it('the statement of a search whose client has left is cancelled', async () => {
  const client = new AbortController();
  const abandoned = search(client.signal).catch(() => undefined);
  await waitFor(async () => (await hangingSearches()) === 1, { what: 'the search to hang' });
  const { rows } = await deployment.pool.query('SELECT now() AS begun');
  client.abort();
  await abandoned;
  await waitFor(async () => (await hangingSearches()) === 0, { what: 'the statement to end' });
  // Without a cancel the lock is waited for for five seconds.
  const { rows: waited } = await deployment.pool.query(
    'SELECT extract(epoch FROM now() - $1::timestamptz)::float8 AS s',
    [rows[0].begun],
  );
  expect(waited[0].s).toBeLessThan(4);
  expect(deployment.service.output()).not.toContain('request failed');
});
